import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Acme, startAcme } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// What pages say of held and enforced is what GitHub does, and what the API says.

let acme: Acme;
let ada: Visitor;

beforeAll(async () => {
  acme = await startAcme();
  ada = new Visitor(acme);
  await ada.signIn('ada');
});
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));
afterAll(() => acme.close());

const see = async (path: string): Promise<string> =>
  (await ada.open(path)).text
    .replace(/<head>[^]*<\/head>/, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

/** Loads a page until GitHub was asked all that it needs. */
async function settled(path: string): Promise<string> {
  for (let count = 0; count < 10; count++) {
    const text = await see(path);
    if (!/Asking GitHub|still being asked|Asking/.test(text)) return text;
    await acme.quiet();
  }
  throw new Error(`${path} does not settle: ${await see(path)}`);
}

async function plan(repositories: string[], more: object = {}): Promise<string> {
  const body = {
    ...{ name: 'Plan', reason: 'Plan', repositories: { include: repositories } },
    ...{ start: null, end: null, timezone: 'UTC', ...more },
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
  expect(await see('/')).toMatch(/acme\/loose Frozen until removed, .*?not enforced/);
  expect(await see('/repos/acme/loose')).toContain('Not enforced');
});

test('GitHub does not say: no page calls it frozen and enforced', async () => {
  const repository = await acme.repository('unsaid', [{}]);
  const freeze = await acme.freeze(repository, { reason: 'Unsaid' });
  const id = await plan(['unsaid'], { name: 'Unsaid', reason: 'Unsaid plan' });
  acme.github.hideProtection?.(repository);
  await acme.advanceTo(new Date(acme.clock.now() + 400_000));
  acme.github.goDown();
  const pages = [
    await see(`/owners/acme/progress?freeze=${freeze.id}`),
    await see(`/owners/acme/progress?plan=${id}`),
  ];
  acme.github.comeBack();
  for (const text of pages) expect(text).not.toMatch(/held on GitHub in 1 repository Frozen/);
});

test('what has not begun holds nothing, whatever is held by others', async () => {
  const repository = await acme.repository('later', [{}]);
  const freeze = await acme.freeze(repository, {
    reason: 'Later',
    start: '2026-06-01T00:00:00',
    end: '2026-06-02T00:00:00',
  });
  const id = await plan(['later'], { start: '2026-06-01T00:00:00', end: '2026-06-02T00:00:00' });
  for (const of of [`freeze=${freeze.id}`, `plan=${id}`])
    expect(await see(`/owners/acme/progress?${of}`)).toContain('Not begun It holds nothing now.');
  expect(await see(`/owners/acme/plans/${id}`)).toMatch(/Scheduled 1 repository/);
});

test('whoever looks on while it is deleted is told', async () => {
  const repository = await acme.repository('gone', [{}]);
  const freeze = await acme.freeze(repository, { reason: 'Gone' });
  acme.github.goDown();
  await acme.freeze(repository, { reason: 'Another' }).catch(() => null);
  acme.github.comeBack();
  void freeze;
});

test('a name that matches no repository is told before anything is frozen', async () => {
  await acme.repository('right', [{}]);
  const fields = { name: 'Typo', reason: 'r', include: 'right\nwrogn\napi-*', zone: 'UTC', repeat: 'once' };
  const { text } = await ada.send('/owners/acme/plans/new', { ...fields, step: 'preview' });
  expect(text).toMatch(/No repository is called <code>wrogn<\/code>/);
  expect(text).toMatch(/<code>api-\*<\/code>/);
  expect(text).not.toMatch(/is called <code>right/);
});
