// The worlds in which GitHub's answers were recorded.
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { manifestOf } from '../../src/prove/make-apps.ts';
import { appJwt } from '../sandbox/acme.ts';
import { postWebhook, serveInside } from '../support/inside.ts';
import { differences } from './compare.ts';
import { converse, type Recording, setupOfProofs } from './recording.ts';

const web = 'acme/web';
const check = 'holdfast/freeze';

/** What is so before, by the words of `setup`. They are set up in this order. */
export const setups: Record<string, (github: Sandbox) => unknown> = {
  [setupOfProofs](github) {
    const { default_permissions: permissions, default_events: events } = manifestOf('', 'http://127.0.0.1');
    github.askForMore(permissions, events);
    github.acceptPermissions('acme', github.app.permissions);
  },
  'a private repository': (github) => github.privatize(web),
  'GitHub Free': (github) => github.setPlan('acme', 'free'),
  'branch protection requires a check': (github) =>
    github.protect(web, 'main', { checks: [check], enforceAdmins: true }),
  'branch protection requires no check': (github) => github.protect(web, 'main', { checks: [] }),
  'a ruleset requires a check': (github) => github.addRuleset(web, { checks: [check] }),
  'a merge queue': (github) => github.enableMergeQueue(web, 'main'),
  'the pull request is a draft': (github) => github.markDraft(web, 1),
  'the pull request is closed': (github) => github.closePullRequest(web, 1),
  'the pull request is in a stack': (github) => {
    const { number } = github.openPullRequest(web, { author: 'ada', head: 'above', base: 'feature' });
    github.stack(web, [1, number]);
  },
  'another repository': (github) => github.addRepository('acme/docs', { private: true }),
  'the repository has another name': (github) => {
    github.renameRepository(web, 'site');
  },
  'the organization has another name': (github) => github.renameOrganization('acme', 'newacme'),
  'the repository is archived': (github) => github.archive(web),
  'the installation is suspended': (github) => github.suspend('acme'),
  'a secondary limit': (github) => github.faults.add({ kind: 'secondary-limit' }),
  'a secondary limit of GraphQL': (github) =>
    github.faults.add({ match: { path: /^\/graphql$/ }, kind: 'secondary-limit', status: 200 }),
  'the hour is used up': (github) => github.faults.add({ kind: 'primary-limit' }),
};

/** A sandbox as a recording begins, and the values of its placeholders. */
export async function prepared(words: string[] = []) {
  const github = await startSandbox({ send: postWebhook });
  const leave = serveInside(github.url, github.fetch);
  for (const login of ['ada', 'bob', 'eve']) github.addUser(login);
  github.addOrganization('acme', { admins: ['ada'] });
  const repository = github.addRepository(web, { roles: { bob: 'write' } });
  const { id: installation } = github.install('acme');
  const second = github.addSecondApp();
  const { id: secondInstallation } = github.install('acme', { second: true });
  const { headSha } = github.openPullRequest(web, { author: 'ada', head: 'feature' });
  const unknown = words.filter((word) => !(word in setups));
  if (unknown.length > 0) throw new Error(`setups.ts does not know ${unknown.join(', ')}`);
  for (const [word, setUp] of Object.entries(setups)) if (words.includes(word)) await setUp(github);
  return {
    github,
    names: {
      head: headSha,
      repository: String(repository.id),
      installation: String(installation),
      secondInstallation: String(secondInstallation),
      secondJwt: appJwt(github, { iss: second.id }, second.privateKey),
      app: String(github.app.id),
    },
    async close() {
      leave();
      await github.close();
    },
  };
}

/** What the sandbox answers otherwise than a recording, in a sentence each. */
export async function differencesOf(recording: Recording): Promise<string[]> {
  const { github, names, close } = await prepared(recording.setup);
  try {
    const answered = await converse(github, recording, names);
    return answered.flatMap((each) => {
      const { method, path } = each.exchange.request;
      const place = `${recording.exchanges.indexOf(each.recorded) + 1}. ${method} ${path}`;
      return differences(each).map((one) => `${place}: ${one}`);
    });
  } finally {
    await close();
  }
}
