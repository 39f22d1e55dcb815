import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { forComments } from '../support/comments.ts';
import { Visitor, words } from '../support/visitor.ts';

// Blocked is what GitHub refuses to merge. Pages do not call more than that blocked, from the first moment on, and whoever
// reads them. In this story GitHub is so slow that it says of no pull request whether it would merge it.

const acme = acmeForAll();
const readers = new Map<string, Visitor>();
const ids = { freeze: '', plan: '' };

const saidTo = async (reader: string, path: string) => {
  const seen = await readers.get(reader)!.open(path);
  expect([path, seen.status]).toEqual([path, 200]);
  return { text: seen.text, said: words(seen) };
};

beforeAll(async () => {
  for (const login of ['mallory', 'carol']) acme.github.addUser(login);
  acme.github.askForMore({ ...forComments[0] }, [...forComments[1]]);
  acme.github.acceptPermissions('acme', acme.github.app.permissions);
  acme.github.setMergeStatesBehind(86_400_000);
  const theirs = [{ author: 'bob' }, { author: 'bob' }];
  const more = { roles: { bob: 'write' }, protect: {} } as const;
  for (const name of ['known', 'unasked']) await acme.repository(name, theirs, more);
  for (const login of ['ada', 'bob', 'mallory', 'nobody']) {
    readers.set(login, new Visitor(acme));
    if (login !== 'nobody') await readers.get(login)!.signIn(login);
  }
  // Nobody has asked GitHub about this one: its freeze was made behind requests.
  const body = { name: 'Night', reason: 'Night', repositories: { include: ['unasked'] }, timezone: 'UTC' };
  const made = await acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: { ...body, start: null, end: null },
  });
  expect(made.status, made.text).toBe(201);
  ids.plan = made.body.id;
  await acme.quiet();
});

test('until GitHub has said what it requires, nothing is blocked, and pages say why', async () => {
  for (const login of ['ada', 'bob'])
    expect((await saidTo(login, '/')).said).toMatch(
      /0 of 2 pull requests blocked It is not clear yet whether GitHub would merge 2 /,
    );
  // It is asked behind the page.
  await acme.quiet();
  await expect
    .poll(async () => (await saidTo('ada', '/')).said)
    .toMatch(/0 of 2 pull requests blocked 1 not enforced /);
});

test('what the creation of a freeze learned, pages know at once', async () => {
  ids.freeze = (await acme.freeze('acme/known', { reason: 'Books are closed' })).id;
  expect((await saidTo('ada', '/')).said).toMatch(/0 of 4 pull requests blocked 2 not enforced /);
  await acme.repository('guarded', [{ author: 'carol' }]);
  await acme.freeze('acme/guarded', { reason: 'Guarded' });
  for (const login of ['ada', 'bob', 'mallory'])
    expect((await saidTo(login, '/repos/acme')).said).toMatch(/1 of 5 pull requests blocked /);
  expect((await saidTo('nobody', '/repos/acme/guarded/pulls/1')).said).toContain(' Blocked A freeze blocks');
});

/** Each page that says what is blocked, and who can open it. */
const pages: [path: string, logins: string[]][] = [
  ['/', ['ada', 'bob']],
  ['/repos/acme', ['ada', 'bob', 'mallory', 'nobody']],
  ['/repos/acme/known', ['ada', 'bob', 'mallory', 'nobody']],
  ['/repos/acme/unasked', ['ada', 'bob', 'mallory', 'nobody']],
  ['/repos/acme/known/freezes/:freeze', ['ada', 'bob', 'mallory', 'nobody']],
  ['/repos/acme/known/pulls/1', ['ada', 'bob', 'mallory', 'nobody']],
  ['/repos/acme/unasked/pulls/1', ['ada', 'bob', 'mallory', 'nobody']],
  ['/owners/acme/progress?freeze=:freeze', ['ada', 'bob', 'mallory', 'nobody']],
  ['/owners/acme/progress?plan=:plan', ['ada', 'bob', 'mallory', 'nobody']],
  ['/owners/acme/plans/:plan', ['ada', 'bob', 'mallory', 'nobody']],
  ['/owners/acme/unfreeze', ['ada']],
];

/** What a page calls blocked. The first pull request of `guarded` is. */
const claims = (text: string): string[] =>
  [
    ...words({ text }).matchAll(/(?<!\bof )\b[1-9]\d* (?:of \d+ )?pull requests? (?:is |are )?blocked/g),
    ...words({ text }).matchAll(/Holds [1-9]\d*[^:]*: (?:known|unasked)/g),
    ...text.matchAll(/class="badge held blocked"[^>]*>\s*Blocked/g),
    ...text.matchAll(/class="badge held">Blocked/g),
  ].map(([claim]) => claim.replace(/\s+/g, ' '));

test.each(pages)('%s calls nothing blocked that GitHub would merge', async (path, logins) => {
  for (const login of logins) {
    const { text } = await saidTo(login, path.replace(':freeze', ids.freeze).replace(':plan', ids.plan));
    const isOfAll = path === '/' || path === '/repos/acme';
    const wanted = isOfAll ? ['1 of 5 pull requests blocked', '1 pull request blocked'] : [];
    expect([login, claims(text)]).toEqual([login, wanted]);
  }
});

test('an answer in a comment calls nothing blocked that GitHub would merge', async () => {
  acme.github.comment('acme/known', 1, { by: 'bob', body: '/holdfast status' });
  await acme.quiet();
  const answer = acme.github.comments('acme/known', 1).at(-1)!.body;
  expect(answer).toMatch(
    /\*\*Pending:\*\* a freeze is ongoing .*it is not clear yet whether GitHub would merge/,
  );
});
