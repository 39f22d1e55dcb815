import { expect, test, vi } from 'vitest';
import { questionsOfEvents, sharesOfHour } from '../../src/github/limits/read-shares.ts';
import { type Acme, startAcme } from '../support/acme.ts';

// Everybody can open a pull request in a public repository, make it large and change it all day. What that makes us read
// is limited, so that freezes of other repositories begin and end.

/** GitHub's hour in these stories: 5,000 requests, scaled down. */
const hour = 200;
const strangers = ['mallory', 'mona', 'mira'];
/** More files than five pages of GitHub's list. */
const largePaths = Array.from({ length: 450 }, (_, n) => `docs/page-${n}.md`);
/** It excludes what leaves the sources alone. Whether that is so, only the last file says. */
const docsOnly = { exclude_conditions: ['-files~=^src/'] };

async function world(): Promise<{ acme: Acme; pub: string; secret: string }> {
  const acme = await startAcme();
  for (const stranger of strangers) acme.github.addUser(stranger);
  const pub = await acme.repository('pub', [], { private: false });
  const secret = await acme.repository('secret', [{}, {}, {}, {}, {}]);
  await acme.freeze(pub, docsOnly);
  for (const resource of ['core', 'graphql'] as const) acme.github.rateLimits[resource] = hour;
  return { acme, pub, secret };
}

/** A large pull request from a fork of this person. */
const open = ({ github }: Acme, repository: string, author: string) =>
  github.openPullRequest(repository, { author, fork: true, files: largePaths }).number;

/** How many requests of a kind GitHub got while something happened. */
async function asked({ github }: Acme, path: RegExp, run: () => Promise<void>): Promise<number> {
  const before = github.requests.length;
  await run();
  return github.requests.slice(before).filter((request) => path.test(request.path)).length;
}

const filesOf = (repository: string) => new RegExp(`^/repos/${repository}/pulls/\\d+/files`);

test('edits of large pull requests read their files once, pushes a few times, and an emergency freeze holds', async () => {
  const { acme, pub, secret } = await world();
  const numbers = strangers.map((author) => open(acme, pub, author));
  await acme.quiet();
  // The control: without edits, all files are read, and let them pass.
  expect(acme.frozen(pub)).toEqual([]);
  const all = await asked(acme, /^/, async () => {
    const again = await asked(acme, filesOf(pub), async () => {
      for (let edit = 0; edit < 6; edit++) {
        for (const number of numbers) acme.github.editTitle(pub, number, `Title ${edit}`);
        await acme.advanceTo(new Date(acme.clock.now() + 2_000));
      }
    });
    expect(again).toBe(0);
    // Each push is a new reading of all files, until the share of the hour is used up.
    const read = await asked(acme, filesOf(pub), async () => {
      for (let push = 0; push < 5; push++) {
        for (const number of numbers) acme.github.push(pub, number);
        await acme.advanceTo(new Date(acme.clock.now() + 60_000));
      }
    });
    expect(read).toBeLessThanOrEqual(sharesOfHour.forks * hour);
  });
  expect(all).toBeLessThanOrEqual(0.4 * hour);
  // A repository with many events is read less often. What is not known holds, and says why.
  await acme.advanceTo(new Date(acme.clock.now() + 180_000));
  expect(acme.frozen(pub)).toEqual(numbers);
  for (const number of numbers)
    expect(acme.shown(pub, number)?.description).toMatch(
      /could not be judged: .* used up \w+ share of this hour/,
    );
  await acme.freeze(secret);
  expect(acme.frozen(secret)).toEqual([1, 2, 3, 4, 5]);
  // With the next hour, all is known again.
  await acme.advanceTo(new Date(acme.clock.now() + 3_700_000));
  await vi.waitFor(() => expect(acme.frozen(pub)).toEqual([]));
  await acme.close();
});

test('events of pull requests that share a commit with a hundred others take their part, and close holes', async () => {
  const acme = await startAcme();
  const { github } = acme;
  github.addUser('eve');
  const ofEve = { author: 'eve', fork: true, headSha: `${'a'.repeat(39)}1`, base: 'next' };
  const many = Array.from({ length: 103 }, () => ofEve);
  const shared = await acme.repository('shared', many, { private: false });
  await acme.freeze(shared, { matching_conditions: ['base=main'] });
  const limit = 1_000;
  for (const resource of ['core', 'graphql'] as const) github.rateLimits[resource] = limit;
  // What is left is known from the next answer on.
  github.editTitle(shared, 1, 'Known');
  await acme.quiet();
  const before = github.requests.length;
  for (let edit = 1; edit <= 20; edit++) {
    github.editTitle(shared, edit, `Title ${edit}`);
    await acme.quiet();
    await acme.advanceTo(new Date(acme.clock.now() + 2_000));
  }
  const names = github.requests.slice(before).map(({ operationName }) => operationName);
  expect(names.filter((name) => name === 'OpenPullRequests')).toEqual([]);
  // Half of what the repository may ask, two for each event.
  const ofSharers = names.filter((name) => name === 'PullRequestNodes').length;
  expect(ofSharers).toBeGreaterThan(10);
  expect(ofSharers).toBeLessThanOrEqual((questionsOfEvents.atOnce / 2) * limit + 2);
  // Nobody else waits for that, and neither does a hole.
  const { number } = github.openPullRequest(shared, { author: 'bob' });
  github.retarget(shared, 50, 'main');
  await acme.quiet();
  expect(acme.shown(shared, number)?.state).toBe('pending');
  expect(acme.shown(shared, 50)?.state).toBe('pending');
  // A release takes its time.
  github.retarget(shared, 50, 'next');
  const isReleased = async () => {
    await acme.advanceTo(new Date(acme.clock.now() + 60_000));
    expect(acme.shown(shared, 50)?.state).toBe('success');
  };
  await vi.waitFor(isReleased, 30_000);
  await acme.close();
});
