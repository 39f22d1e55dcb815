import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { commandLineFor } from '../support/command-line.ts';
import { Visitor, words } from '../support/visitor.ts';

// Pages say held and enforced exactly as GitHub does it, and as the API says.

const acme = acmeForAll();
let ada: Visitor;

beforeAll(async () => {
  await acme.repository('first', []);
  ada = new Visitor(acme);
  await ada.signIn('ada');
});
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

const see = async (path: string): Promise<string> => words(await ada.open(path));

/** Loads a page until GitHub was asked all that it needs. */
async function settled(path: string): Promise<string> {
  for (let count = 0; count < 10; count++) {
    const text = await see(path);
    if (!/asking GitHub|Checking/i.test(text)) return text;
    await acme.quiet();
  }
  throw new Error(`${path} does not settle: ${await see(path)}`);
}

/** Until GitHub has said twice whether it would merge what is held. */
async function said(): Promise<void> {
  for (const seconds of [10, 20, 30]) await acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
}

async function plan(repositories: string[], more: object = {}): Promise<string> {
  const body = {
    name: 'Plan',
    reason: 'Plan',
    repositories: { include: repositories },
    start: null,
    end: null,
    timezone: 'UTC',
    ...more,
  };
  const answer = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
  expect(answer.status, answer.text).toBe(201);
  await acme.quiet();
  return answer.body.id;
}

const enforcement = async (repository: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin })).body.enforced;

test('the check is not required: every page says so', async () => {
  const repository = await acme.repository('loose', [{}], { protect: {} });
  const id = await plan(['loose']);
  expect(await enforcement(repository)).toBe(false);
  expect(await settled(`/owners/acme/progress?plan=${id}`)).toMatch(/Not enforced: loose/);
  expect(await settled(`/owners/acme/plans/${id}`)).toContain('1 not enforced');
  expect(await settled('/repos/acme')).toMatch(/loose Plan Frozen until removed .*? No /);
  expect(await see('/')).toMatch(/ loose .*?Frozen until removed .*?Not enforced in 1 repository/);
  expect(await see('/repos/acme/loose')).toContain('Not enforced');
});

test('a freeze that is on says until when, what is not blocked and how to end it', async () => {
  await acme.repository('solid', [{}]);
  await acme.repository('porous', [{}], { protect: {} });
  const day = new Date(acme.clock.now() + 86_400_000).toISOString().slice(0, 10);
  const id = await plan(['solid', 'porous'], { reason: 'Both', end: `${day}T09:00:00` });
  const freeze = await acme.freeze('acme/solid', { reason: 'Another', end: `${day}T10:00:00` });
  await said();
  const path = `/owners/acme/progress?plan=${id}`;
  expect(await settled(path)).toMatch(
    /Progress 2 of \d repositories of acme are frozen until Mon 2 Mar, 09:00 UTC .*1 not enforced .*1 of 2 pull requests blocked on GitHub in 2 repositories .*Not enforced: porous 1 pull request is not blocked\. Unfreeze… .*Tell people/,
  );
  const ofOne = await settled(`/owners/acme/progress?freeze=${freeze.id}`);
  expect(ofOne).toMatch(/acme\/solid is frozen until Mon 2 Mar, 10:00 UTC .*Unfreeze…/);
  // The form has this one selected, and nothing else.
  for (const [subject, value] of [
    [`plan=${id}`, `plan ${id}`],
    [`freeze=${freeze.id}`, `freezes ${freeze.id}`],
  ]) {
    const { text } = await ada.open(`/owners/acme/progress?${subject}`);
    const [, href] = /href="([^"]*)"\s*>Unfreeze…/.exec(text)!;
    const form = (await ada.open(href!.replaceAll('&amp;', '&'))).text;
    expect([...form.matchAll(/value="([^"]+)"[^>]*\schecked/g)].map(([, ticked]) => ticked)).toEqual([value]);
  }
  await acme.remove('acme/solid', freeze.id);
  const ended = { as: acme.admin, body: { delete_reason: 'Enough' } };
  await acme.call('POST', `/v1/freeze_plans/acme/${id}/delete`, ended);
  expect(await see(path)).toMatch(/Freezing acme Over The freeze has ended/);
});

test('GitHub does not say: no page calls it frozen, or not enforced', async () => {
  const repository = await acme.repository('unsaid', [{}]);
  const freeze = await acme.freeze(repository, { reason: 'Unsaid' });
  const id = await plan(['unsaid'], { name: 'Unsaid', reason: 'Unsaid plan' });
  acme.github.faults.add({ kind: 'status', status: 500, match: { path: /unsaid\/(rules\/)?branches\// } });
  await acme.advanceTo(new Date(acme.clock.now() + 400_000));
  await said();
  expect(await enforcement(repository)).toBe('unknown');
  const pages = [`/owners/acme/progress?freeze=${freeze.id}`, `/owners/acme/progress?plan=${id}`];
  for (const path of pages) {
    const text = await settled(path);
    expect(text).toMatch(
      /1 pull request blocked on GitHub in 1 repository GitHub doesn’t say whether it is enforced: unsaid/,
    );
    expect(text).not.toContain('Not enforced');
  }
  expect(await settled(`/owners/acme/plans/${id}`)).toContain('1 not known to be enforced');
  expect(await settled('/repos/acme')).toMatch(/unsaid Unsaid.*? Frozen until removed 1 Unknown/);
  acme.github.faults.clear();
  await acme.advanceTo(new Date(acme.clock.now() + 400_000));
  for (const path of pages) expect(await settled(path)).toMatch(/blocked on GitHub in 1 repository Frozen/);
});

test('the status is not written yet: the page says how many wait, and no more than that', async () => {
  const repository = await acme.repository('slow', [{}, {}]);
  acme.github.faults.add({ kind: 'status', status: 502, match: { path: /slow\/statuses\// } });
  const body = { reason: 'Slow', start: null, timezone: 'UTC' };
  const path = `/v1/repos/${repository}/scheduled_freeze`;
  const { id } = (await acme.call('POST', path, { as: acme.admin, body })).body;
  const waits = async () => (await see(`/owners/acme/progress?freeze=${id}`)).includes('0 of 2');
  await vi.waitUntil(waits);
  expect(await see(`/owners/acme/progress?freeze=${id}`)).not.toContain('repository Frozen');
  expect(await see('/repos/acme')).toMatch(/slow Slow Frozen until removed 0 of 2/);
  expect(await see('/')).toMatch(/ slow .*?Frozen until removed 0 of 2 pull requests blocked/);
  const pull = await ada.open('/repos/acme/slow/pulls/1');
  expect(words(pull)).toContain(' Pending A freeze blocks');
  expect(pull.text).toContain('<title>Pending · acme/slow #1 ');
  await acme.call('POST', `${path}/${id}/delete`, { as: acme.admin, body: { delete_reason: 'Enough' } });
  const over = await ada.open(`/owners/acme/progress?freeze=${id}`);
  expect(words(over)).toContain('Over The freeze has ended or was deleted.');
  expect(over.text).not.toMatch(/data-again|http-equiv="refresh"/);
  acme.github.faults.clear();
  await acme.quiet();
});

test('a freeze that has not begun holds nothing, no matter what others hold', async () => {
  const repository = await acme.repository('later', [{}]);
  const freeze = await acme.freeze(repository, {
    reason: 'Later',
    start: '2026-06-01T00:00:00',
    end: '2026-06-02T00:00:00',
  });
  const id = await plan(['later'], { start: '2026-06-01T00:00:00', end: '2026-06-02T00:00:00' });
  for (const asked of [`freeze=${freeze.id}`, `plan=${id}`])
    expect(await see(`/owners/acme/progress?${asked}`)).toContain(
      'Not started The freeze holds nothing yet.',
    );
  expect(await see(`/owners/acme/plans/${id}`)).toMatch(/Scheduled Mon 1 Jun, 00:00 UTC 1 repository/);
});

test('the page names a pattern without a repository before anything is frozen', async () => {
  await acme.repository('right', [{}]);
  const fields = { name: 'Typo', reason: 'r', include: 'right\nwrogn\napi-*', zone: 'UTC', repeat: 'once' };
  const { text } = await ada.send('/owners/acme/plans/new', { ...fields, step: 'preview' });
  expect(text).toMatch(/<code>wrogn<\/code>, <code>api-\*<\/code>\s+match no repository now/);
});

test('for a plan of one branch, the page says it about that branch, like the preview', async () => {
  await acme.repository('branches', [{}], { protect: { main: ['holdfast/freeze'] } });
  acme.github.pushToBranch('acme/branches', 'release');
  const of = async (base: string) =>
    settled(
      `/owners/acme/progress?plan=${await plan(['branches'], { matching_conditions: [`base=${base}`] })}`,
    );
  expect(await of('release')).toMatch(/Not enforced: branches/);
  expect(await of('main')).toMatch(/blocked on GitHub in 1 repository Frozen/);
});

test('blocked is what GitHub refuses: the page goes on until GitHub has said it', async () => {
  const repository = await acme.repository('unrequired', [{}, {}], { protect: {} });
  const freeze = await acme.freeze(repository, { reason: 'Nothing requires it' });
  const id = await plan(['unrequired']);
  const pages = [`freeze=${freeze.id}`, `plan=${id}`].map((asked) => `/owners/acme/progress?${asked}`);
  for (const path of pages) {
    await settled(path);
    const page = await ada.open(path);
    expect(words(page)).toMatch(/0 of 2 pull requests blocked on GitHub in 1 repository It is not clear yet/);
    expect(page.text).toContain(' data-again');
  }
  expect(await settled('/repos/acme')).toMatch(/unrequired \S.*? Frozen until removed 0 of 2 No /);
  expect(await see('/')).toMatch(/ unrequired .*?Frozen until removed 0 of 2 pull requests blocked/);
  expect(await see(`/repos/acme/unrequired`)).toMatch(
    /0 pull requests are blocked\. 2 more should be blocked: nothing requires the check of 2 \./,
  );
  // GitHub says twice that it would merge them, some seconds apart.
  await said();
  for (const path of pages) {
    const page = await ada.open(path);
    expect(words(page)).toMatch(
      /0 of 2 pull requests blocked on GitHub in 1 repository Not enforced: unrequired/,
    );
    expect(page.text).not.toContain(' data-again');
  }
});

test('the page of a pull request, too, does not say blocked where nothing requires the check', async () => {
  const repository = await acme.repository('unguarded', [{}], { protect: {} });
  await acme.freeze(repository, { reason: 'Nothing requires it' });
  const page = await ada.open('/repos/acme/unguarded/pulls/1');
  expect(words(page)).toMatch(/ Not blocked A freeze blocks .*?, but nothing requires the check, so GitHub/);
  expect(page.text).toContain('<title>acme/unguarded #1 ');
  // What GitHub does not require is not for strangers; nor is what is not so.
  expect(words(await new Visitor(acme).open('/repos/acme/unguarded/pulls/1'))).toMatch(
    / Pending A freeze blocks .*?, but it is not clear yet whether GitHub would merge it\./,
  );
});

test('previews count apart what GitHub would not refuse', async () => {
  await acme.repository('firm', [{}, {}]);
  // Nothing is blocked there, so it does not count.
  await acme.repository('bare', [{}], { protect: {} });
  await acme.repository('empty', []);
  const soft = await acme.repository('soft', [{}, { base: 'release' }], {
    protect: { release: ['holdfast/freeze'] },
  });
  const window = { reason: 'r', start: null, end: '2027-01-01T00:00:00', timezone: 'UTC' };
  const post = async (path: string, body: object) =>
    (await acme.call('POST', path, { as: acme.admin, body })).body;
  const both = { ...window, name: 'Both', repositories: { include: ['firm', 'soft'] } };
  expect(await post('/v1/freeze_plans/acme/preview', both)).toMatchObject({
    to_hold: 4,
    to_refuse: 3,
    time_until_held: { message: expect.stringContaining('All 3 pull requests are blocked within') },
    repositories: [
      { name: 'firm', to_hold: 2, to_refuse: 2 },
      { name: 'soft', to_hold: 2, to_refuse: 1 },
    ],
  });
  const one = await post(`/v1/repos/${soft}/scheduled_freeze/preview`, window);
  expect(one).toMatchObject({ counts: { frozen: 2 }, to_refuse: 1 });
  expect(one.time_until_held.message).toContain('1 pull request is blocked within');
  const fields = {
    reason: 'r',
    which: 'ticked',
    repository: ['firm', 'soft', 'bare', 'empty'],
    duration: '1h',
    zone: 'UTC',
  };
  const page = words(await ada.send('/owners/acme/freeze', { ...fields, step: 'preview' }));
  expect(page).toMatch(
    /3 pull requests in 2 repositories would be blocked\. 2 would not: nothing requires the check in bare and soft\. /,
  );
  // The note says it once, and the list marks the two.
  expect(page).not.toContain('not enforced');
  expect(page.match(/#\d+ [^#]*?\(nothing requires the check\)/g)).toHaveLength(2);
  expect(page).toMatch(/ soft 1 of 2 0 No /);
  const { holdfast, close } = commandLineFor(acme, acme.admin);
  const said = await holdfast(['freeze', soft, '-m', 'r', '--for', '1h', '--dry-run']);
  expect(said.out).toContain('it would block 1 and exclude 0.\n1 would not: nothing requires the check in');
  close();
  const freeze = await acme.freeze(soft);
  const path = `/v1/repos/${soft}/scheduled_freeze/${freeze.id}/enforcement`;
  expect((await acme.call('GET', path, { as: acme.admin })).body.pull_requests).toEqual({
    ...{ to_hold: 2, held: 2, to_refuse: 1 },
  });
  const id = await plan(['firm', 'soft']);
  const ofPlan = await acme.call('GET', `/v1/freeze_plans/acme/${id}/enforcement`, { as: acme.admin });
  expect(ofPlan.body).toMatchObject({ to_hold: 4, held: 4, to_refuse: 3 });
});
