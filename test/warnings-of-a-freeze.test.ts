import { beforeAll, describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import type { Answer } from './support/holdfast.ts';

const acme = acmeForAll();

const freezes = (repository: string, rest = '') => `/v1/repos/${repository}/scheduled_freeze${rest}`;
const newFreeze = { reason: 'Release', start: null, timezone: 'UTC' };

async function create(repository: string, more: object, headers: Record<string, string> = {}) {
  const body = { ...newFreeze, ...more };
  const answer = await acme.call('POST', freezes(repository), { as: acme.admin, body, headers });
  expect(answer.status, answer.text).toBe(201);
  return answer;
}

async function change(repository: string, id: string, body: object) {
  const answer = await acme.call('PATCH', freezes(repository, `/${id}`), { as: acme.admin, body });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

/** The sentences of the header. */
const inHeader = ({ headers }: Answer): string[] =>
  [...(headers.get('warning') ?? '').matchAll(/299 holdfast "((?:[^"\\]|\\.)*)"/g)].map(([, text]) =>
    text!.replace(/\\(.)/g, '$1'),
  );

const pullRequests = [{ title: 'A' }, { title: 'B', labels: ['hotfix'] }, { title: 'C' }, { title: 'D' }];

/** @param condition that matches no pull request. */
const excludesNone = (condition: string): string =>
  `exclude_conditions exclude none of the open pull requests (4): \`${condition}\` matches none.`;
let count = 0;
const byAuthor =
  'The author of a pull request can get it excluded without anybody else: `title~=hotfix` depends on';
const byEscape =
  'The author of a pull request can avoid the freeze with the same change: `-title~=hotfix` depends on';
const orMeant =
  'All items of exclude_conditions must match: together they exclude no open pull request, `label=hotfix` alone excludes #2. If one of them is enough, put them into an or: `{"or": ["label=hotfix", "number=3"]}`.';

describe('the answer to a freeze that looks like a mistake says so, in the body and in the header', () => {
  test('there is no warning without a mistake, if everything is selected, or in lists', async () => {
    const web = await acme.repository('web', pullRequests);
    for (const more of [
      {},
      { exclude_conditions: ['label=hotfix'] },
      { matching_conditions: ['base=main'] },
    ]) {
      const made = await create(web, more);
      expect(made.body).not.toHaveProperty('warnings');
      expect(made.headers.get('warning')).toBeNull();
    }
    await create(web, { matching_conditions: ['label=none'] });
    const { body } = await acme.call('GET', freezes(web), { as: acme.admin });
    for (const freeze of body.scheduled_freezes) expect(freeze).not.toHaveProperty('warnings');
  });

  test('nothing enforces it', async () => {
    const bare = await acme.repository('bare', pullRequests, { protect: {} });
    const made = await create(bare, {});
    expect(made.body.warnings).toEqual([
      'Nothing enforces this freeze on main: holdfast/freeze is not required there, or not from Holdfast. See https://holdfast.example/v1/repos/acme/bare/enforcement',
    ]);
    expect(inHeader(made)).toEqual(made.body.warnings);
    const changed = await change(bare, made.body.id, { reason: 'Later' });
    expect(changed.body.warnings).toEqual(made.body.warnings);
    await acme.setProducts(bare, []);
    expect((await change(bare, made.body.id, { reason: 'Last' })).body.warnings).toContain(
      'Neither merge_protections nor merge_queue is enabled here, so this freeze holds nothing.',
    );
  });

  test('no open pull request matches', async () => {
    const shop = await acme.repository('shop', pullRequests);
    const made = await create(shop, { matching_conditions: ['label=hotfx'] });
    expect(made.body.warnings).toEqual(['This freeze holds none of the open pull requests (4).']);
    expect(inHeader(made)).toEqual(made.body.warnings);
    const mended = await change(shop, made.body.id, { matching_conditions: ['label=hotfix'] });
    expect(mended.body).not.toHaveProperty('warnings');
  });

  test('if none is open, there is no warning', async () => {
    const empty = await acme.repository('empty');
    expect((await create(empty, { matching_conditions: ['label=hotfix'] })).body).not.toHaveProperty(
      'warnings',
    );
  });

  test.each<[string, object, string, string[]]>([
    ['an exclusion', { exclude_conditions: ['title~=hotfix'] }, byAuthor, [excludesNone('title~=hotfix')]],
    ['what it selects', { matching_conditions: ['-title~=hotfix'] }, byEscape, []],
  ])('the author alone controls %s', async (name, conditions, sentence, others) => {
    const repository = await acme.repository(name.replaceAll(' ', '-'), pullRequests);
    const made = await create(repository, conditions);
    expect(made.body.warnings).toEqual([expect.stringContaining(sentence), ...others]);
    expect(inHeader(made)).toEqual(made.body.warnings.slice(0, 1));
  });

  test.each([
    ['label=hotfx', ''],
    ['author=Ada', ' A pull request has `ada`: the case of letters counts.'],
    ['label=Hotfix', ' A pull request has `hotfix`: the case of letters counts.'],
    [
      'label=["hotfix","security"]',
      ' A condition has one value: write one for each, as `{"or": ["label=…", "label=…"]}`.',
    ],
    [
      'label=hotfix,security',
      ' A condition has one value: write one for each, as `{"or": ["label=…", "label=…"]}`.',
    ],
    [
      'label=hotfix|security',
      ' A condition has one value: write one for each, as `{"or": ["label=…", "label=…"]}`.',
    ],
    [
      'label=hotfix or label=security',
      ' A condition has one value: write one for each, as `{"or": ["label=…", "label=…"]}`.',
    ],
    ['files=*.md', ' For a glob, use `*=`.'],
  ])('the only exclusion, %s, excludes nothing', async (condition, hint) => {
    const repository = await acme.repository(`none-${++count}`, pullRequests);
    const made = await create(repository, { exclude_conditions: [condition] });
    expect(made.body.warnings).toContain(`${excludesNone(condition)}${hint}`);
    // Clients of the interface get the header that they know.
    expect(inHeader(made).join()).not.toContain('exclude none');
    const mended = await change(repository, made.body.id, { exclude_conditions: ['label=hotfix'] });
    expect(mended.body.warnings ?? []).toEqual([]);
  });

  test('everybody who can push to the branch gets through an exclusion by author', async () => {
    const bots = await acme.repository('bots', pullRequests);
    const says =
      'Everybody who can push to the branch of an excluded pull request gets through: `author=dependabot[bot]` asks who opened it, not who pushed to it. Add `last-pushed-by`.';
    const exclude_conditions = [{ or: ['label=hotfix', 'author=dependabot[bot]'] }];
    const made = await create(bots, { exclude_conditions });
    expect(made.body.warnings).toEqual([says]);
    // Clients of the interface get the header that they know.
    expect(inHeader(made)).toEqual([]);
    const preview = await acme.call('POST', freezes(bots, '/preview'), {
      as: acme.admin,
      body: { ...newFreeze, exclude_conditions },
    });
    expect(preview.body.warnings).toContainEqual({ type: 'pusher_controlled_exclude', message: says });
    const mended = await change(bots, made.body.id, {
      exclude_conditions: [
        { or: ['label=hotfix', { and: ['author=dependabot[bot]', 'last-pushed-by=dependabot[bot]'] }] },
      ],
    });
    expect(mended.body).not.toHaveProperty('warnings');
    expect(mended.headers.get('warning')).toBeNull();
  });

  test('an exclusion that stopped excluding: with the or that was probably meant', async () => {
    const lib = await acme.repository('lib', pullRequests);
    const made = await create(lib, { exclude_conditions: ['label=hotfix'] });
    await acme.quiet();
    expect(acme.frozen(lib)).toEqual([1, 3, 4]);
    const changed = await change(lib, made.body.id, { exclude_conditions: ['label=hotfix', 'number=3'] });
    expect(changed.body.warnings).toEqual([orMeant]);
    expect(inHeader(changed)).toEqual([orMeant]);
    await acme.quiet();
    expect(acme.frozen(lib)).toEqual([1, 2, 3, 4]);
    const mended = await change(lib, made.body.id, {
      exclude_conditions: [{ or: ['label=hotfix', 'number=3'] }],
    });
    expect(mended.body).not.toHaveProperty('warnings');
    await acme.quiet();
    expect(acme.frozen(lib)).toEqual([1, 4]);
    const preview = await acme.call('POST', freezes(lib, '/preview'), {
      as: acme.admin,
      body: { ...newFreeze, exclude_conditions: ['label=hotfix', 'number=3'] },
    });
    expect(preview.body.warnings).toContainEqual({ type: 'or_meant', message: orMeant });
  });

  test('a replayed answer warns as the first one did', async () => {
    const site = await acme.repository('site', pullRequests);
    const body = { exclude_conditions: ['label=hotfix', 'number=3'], reasn: 'x' };
    const key = { 'Idempotency-Key': 'once' };
    const [first, again] = [await create(site, body, key), await create(site, body, key)];
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(first.body.warnings).toHaveLength(2);
    expect(again.body).toEqual(first.body);
    expect(inHeader(again)).toEqual(inHeader(first));
  });
});

describe('unknown fields are accepted, and named', () => {
  let known: string;
  beforeAll(async () => {
    // The questions of a minute are used up by what came before.
    await acme.advanceTo(new Date(acme.clock.now() + 60_000));
    known = await acme.repository('known', pullRequests);
  });

  test.each<[string, string]>([
    [
      'exclude_condition',
      '`exclude_condition` is not a field of a freeze: did you mean `exclude_conditions`?',
    ],
    ['Reason', '`Reason` is not a field of a freeze: did you mean `reason`?'],
    [
      'excludeConditions',
      '`excludeConditions` is not a field of a freeze: did you mean `exclude_conditions`?',
    ],
    [
      'conditions',
      '`conditions` is not a field of a freeze: did you mean `exclude_conditions` or `matching_conditions`?',
    ],
    ['toString', '`toString` is not a field of a freeze, so it does nothing. Leave it out.'],
  ])('%s', async (field, sentence) => {
    const window = { start: '2026-05-01T00:00:00', reason: `With ${field}` };
    const { body } = await create(known, window);
    await acme.remove(known, body.id);
    const made = await create(known, { ...window, [field]: ['label=x'] });
    expect(made.body.warnings).toEqual([sentence]);
    // The header has what it always had.
    expect(made.headers.get('warning')).toBeNull();
    expect({ ...made.body, id: '', warnings: undefined }).toEqual({ ...body, id: '' });
    expect((await change(known, made.body.id, { [field]: 1 })).body.warnings).toEqual([sentence]);
  });

  test('the fields of an answer can be sent back', async () => {
    const made = await create(known, { matching_conditions: ['label=none'], public_reason: 'Closed' });
    const changed = await change(known, made.body.id, made.body);
    expect(changed.body).toEqual(made.body);
  });

  test('for any number and length of warnings, the answer stays short', async () => {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field ${index}"\n`, 1]));
    const made = await create(known, { ['x'.repeat(100_000)]: 1, ...fields, __proto__: 1 });
    expect(made.body.warnings).toHaveLength(11);
    expect(made.body.warnings.at(-1)).toBe('The body has 4991 more fields that are not fields of a freeze.');
    expect(made.text.length).toBeLessThan(3000);
  });

  test('texts in conditions cannot make the header long or break it', async () => {
    const evil = Array.from({ length: 40 }, (_, index) => `title~="${'ü"\\\\'.repeat(200)}${index}`);
    const made = await create(known, { exclude_conditions: evil });
    expect(made.headers.get('warning')!.length).toBeLessThan(4000);
    expect(made.body.warnings).toHaveLength(1);
  });
});

describe('a freeze that repeats another one', () => {
  const window = { start: '2026-05-01T00:00:00', end: '2026-05-02T00:00:00', reason: 'Release 4.2' };
  const warned = async (repository: string, more: object = {}): Promise<string[]> =>
    (await create(repository, { ...window, ...more })).body.warnings ?? [];

  test('is made, and its answer names the other one', async () => {
    const twice = await acme.repository('twice', pullRequests);
    const { body } = await create(twice, window);
    expect(await warned(twice)).toEqual([
      `This freeze repeats ${body.id}, which is scheduled. Both hold until both are over: delete one of them.`,
    ]);
    for (const other of [
      { reason: 'Release 4.3' },
      { public_reason: 'Closed' },
      { start: '2026-05-01T00:00:01' },
      { end: null },
      { holds: ['deployments'] },
      { matching_conditions: ['base=main'] },
      { exclude_conditions: ['label=risky'] },
    ])
      expect(JSON.stringify(await warned(twice, other)), JSON.stringify(other)).not.toContain('repeats');
  });

  test('is the same no matter when each of them began', async () => {
    const begun = await acme.repository('begun', pullRequests);
    const { body } = await create(begun, { start: null });
    await acme.advanceTo(new Date(acme.clock.now() + 60_000));
    const [sentence] = await warned(begun, { start: null, end: null, reason: 'Release' });
    expect(sentence).toContain(`This freeze repeats ${body.id}, which is ongoing.`);
    await acme.remove(begun, body.id);
  });
});
