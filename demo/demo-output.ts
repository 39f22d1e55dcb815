import type { Sandbox } from '../sandbox/github.ts';
import { asked } from './demo-seed.ts';
import { tour, type TourValues } from './demo-tour.ts';

type Urls = Pick<TourValues, 'serviceUrl' | 'githubUrl'>;
type StatusPosted = Parameters<Parameters<Sandbox['onStatus']>[0]>[0];

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** One line for each status that changes. */
export function printStatus({ repository, pullRequests, state, description, at }: StatusPosted): void {
  const colour = state === 'success' ? '32' : '33';
  const shown = process.stdout.isTTY ? `\u001b[${colour}m${state}\u001b[0m` : state;
  const numbers = pullRequests.map((number) => `#${number}`).join(' ');
  const padding = ' '.repeat(Math.max(0, 'pending'.length - state.length));
  const place = `${repository} ${numbers}`.padEnd(16);
  print(`${at.toTimeString().slice(0, 8)}  ${place} ${shown}${padding}  ${description}`);
}

export function printSetup(serviceUrl: string, code: string): void {
  print(`
Holdfast runs without a GitHub App. Open its setup page in a browser, make the App for the organization acme, and
install it there:

  ${serviceUrl}/setup

The code that it asks for: ${code}

The rest follows when every open pull request has its first status. Ctrl-C ends it and leaves nothing behind.
`);
}

/** The pages to begin with. A Holdfast that was just set up has frozen nothing yet. */
export function printPages({ serviceUrl, githubUrl }: Urls, isNew: boolean): void {
  const pages = isNew
    ? [
        ['Everything of acme', `${serviceUrl}/repos/acme`],
        ['A pull request on GitHub', `${githubUrl}/acme/api/pull/${asked}`],
      ]
    : [
        ['A freeze holds this pull request', `${githubUrl}/acme/api/pull/${asked}`],
        ['Why, and who decides', `${serviceUrl}/repos/acme/api/pulls/${asked}`],
        ['Everything of acme', `${serviceUrl}/repos/acme`],
      ];
  print(`
Open in a browser:

${pages.map(([what, url]) => `  ${what!.padEnd(34)}${url}`).join('\n')}

Sign in as ada or grace, admins of acme, or as bob, a developer: no password, GitHub asks who you are.
The check holdfast/freeze is already required here, in all repositories but acme/infra. On GitHub you require it once, by
a ruleset of the organization or branch protection: docs/install.md, "Make the check required".`);
}

export function printTour(values: TourValues): void {
  const { serviceUrl, githubUrl, adminToken, adminKey, ciKey } = values;
  print(`
Or with curl:

Holdfast     ${serviceUrl}   (its interface: ${serviceUrl}/docs)
GitHub       ${githubUrl}   (a sandbox: nothing leaves this machine)
ada's token  ${adminToken}   (a GitHub token; ada is an admin of acme)
admin key    ${adminKey}
ci key       ${ciKey}
Enforced?    HOLDFAST_URL=${serviceUrl} HOLDFAST_TOKEN=${adminKey} npx --no-install holdfast doctor acme/web

The tour: paste each line into a second terminal, and watch the statuses change here.
Steps 2 to 6 fit into the minute that the freeze of step 2 lasts.`);
  tour(values).forEach(({ title, command }, index) => print(`\n# ${index + 1}. ${title}\n${command}`));
  print('\nCtrl-C ends it and leaves nothing behind.\n');
}
