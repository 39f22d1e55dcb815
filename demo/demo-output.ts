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
Holdfast runs without a GitHub App. Open its setup page in a browser, create the App for the organization acme, and
install it there:

  ${serviceUrl}/setup

Enter this code: ${code}

The demo continues when every open pull request has its first status. Press Ctrl-C to end it. It leaves nothing behind.
`);
}

/** The pages to start with, printed last, so that they stay in sight. A new Holdfast has no freezes yet. */
export function printPages({ serviceUrl, githubUrl }: Urls, isNew: boolean): void {
  const pages = isNew
    ? [
        ['Everything of acme', `${serviceUrl}/repos/acme`],
        ['A pull request on GitHub', `${githubUrl}/acme/api/pull/${asked}`],
      ]
    : [
        ['A blocked pull request on GitHub', `${githubUrl}/acme/api/pull/${asked}`],
        ['Why, and who decides', `${serviceUrl}/repos/acme/api/pulls/${asked}`],
        ['Everything of acme', `${serviceUrl}/repos/acme`],
      ];
  print(`
Sign in as ada or grace, admins of acme, or as bob, a developer. You need no password: the sandbox asks who you are.
${isNew ? '' : 'To try commands, write /holdfast status in the comment box of a pull request on GitHub.\n'}All repositories except acme/infra already require the check holdfast/freeze. On GitHub, require it once with an
organization ruleset or branch protection: docs/install.md, "Make the check required".

Press Ctrl-C to end the demo. It leaves nothing behind.

Open in a browser:

${pages.map(([what, url]) => `  ${what!.padEnd(34)}${url}`).join('\n')}
`);
}

export function printTour(values: TourValues): void {
  const { serviceUrl, githubUrl, adminToken, adminKey, ciKey } = values;
  print(`
With curl:

Holdfast     ${serviceUrl}   (its interface: ${serviceUrl}/docs)
GitHub       ${githubUrl}   (a sandbox: nothing leaves this machine)
ada's token  ${adminToken}   (a GitHub token; ada is an admin of acme)
admin key    ${adminKey}
ci key       ${ciKey}
Enforced?    HOLDFAST_URL=${serviceUrl} HOLDFAST_TOKEN=${adminKey} npx --no-install holdfast doctor acme/web

To take the tour, paste each line into a second terminal and watch the statuses change here.
Run steps 2 to 6 within one minute, while the freeze of step 2 is on.`);
  tour(values).forEach(({ title, command }, index) => print(`\n# ${index + 1}. ${title}\n${command}`));
}
