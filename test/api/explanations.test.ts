import { beforeAll, describe, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();
let bob: string;
const web = 'acme/web';

beforeAll(async () => {
  bob = acme.github.addToken('bob');
  await acme.repository('web', [
    { title: 'A', labels: ['risky'], files: ['payments/a.ts'] },
    { title: 'B', labels: ['hotfix'], files: ['payments/b.ts'] },
    { title: 'C', base: 'release', files: ['payments/c.ts'] },
    { title: 'D', files: ['docs/d.md'] },
    { title: 'E', draft: true, author: 'bob', files: ['payments/e.ts'] },
  ]);
});

const newFreeze = { reason: 'Quarter end', start: null, timezone: 'Europe/Paris' };

const preview = (more: object = {}, query = '', repository = web) =>
  acme.call('POST', `/v1/repos/${repository}/scheduled_freeze/preview${query}`, {
    as: acme.admin,
    body: { ...newFreeze, ...more },
  });

const verdicts = ({ body }: Awaited<ReturnType<typeof preview>>) =>
  Object.fromEntries(
    body.pull_requests.map((each: { pull_request: { number: number }; verdict: string }) => [
      each.pull_request.number,
      each.verdict,
    ]),
  );
const warnings = ({ body }: Awaited<ReturnType<typeof preview>>) =>
  body.warnings.map(({ type }: { type: string }) => type);

describe('the preview of a freeze', () => {
  const mixed = {
    matching_conditions: ['base=main', 'files~=^payments/'],
    exclude_conditions: ['label=hotfix'],
  };

  test('says what would be frozen and excluded, with the conditions that decide, and saves nothing', async () => {
    const answer = await preview(mixed);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      judged_at: '2026-03-01T09:00:00.000Z',
      next_change_at: null,
      counts: { open: 5, frozen: 2, excluded: 1, unknown: 0, not_matched: 2 },
      warnings: [],
      size: 3,
      per_page: 30,
    });
    expect(verdicts(answer)).toEqual({ 1: 'frozen', 2: 'excluded', 5: 'frozen' });
    expect(answer.body.pull_requests[0]).toEqual({
      pull_request: {
        number: 1,
        title: 'A',
        author: 'ada',
        head_sha: acme.github.pullRequest(web, 1).headSha,
        state: 'open',
        draft: false,
        repository: 'acme/web',
      },
      verdict: 'frozen',
      reasons: [
        {
          list: 'matching_conditions',
          path: [0],
          condition: 'base=main',
          match: true,
          saw: ['main'],
          more: 0,
          error: null,
          decides: true,
        },
        {
          list: 'matching_conditions',
          path: [1],
          condition: 'files~=^payments/',
          match: true,
          saw: ['payments/a.ts'],
          more: 0,
          error: null,
          decides: true,
        },
        {
          list: 'exclude_conditions',
          path: [0],
          condition: 'label=hotfix',
          match: false,
          saw: ['risky'],
          more: 0,
          error: null,
          decides: true,
        },
      ],
    });
    const list = await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin });
    expect(list.body).toEqual({ scheduled_freezes: [] });
    expect(acme.frozen(web)).toEqual([]);
    const logs = await acme.call('GET', `/v1/repos/${web}/logs`, { as: acme.admin });
    expect(logs.body.events).toEqual([]);
  });

  test('is what the freeze then does', async () => {
    const { id } = await acme.freeze(web, mixed);
    expect(acme.frozen(web)).toEqual([1, 5]);
    await acme.remove(web, id);
  });

  test('has pages, by number, with the whole counts on each', async () => {
    const seen: number[] = [];
    let query = '?per_page=2';
    for (let pages = 0; query !== '' && pages < 5; pages++) {
      const answer = await preview({}, query);
      expect(answer.body.counts.frozen).toBe(5);
      expect(answer.body.size).toBe(answer.body.pull_requests.length);
      seen.push(...Object.keys(verdicts(answer)).map(Number));
      const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
      expect(next?.startsWith('https://holdfast.example/v1/repos/acme/web/') ?? true).toBe(true);
      query = next ? new URL(next).search : '';
    }
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  test('is judged for the start if that is in the future', async () => {
    const schedule = { matching_conditions: ['schedule=Wed 10:00-11:00[Europe/Paris]'] };
    expect((await preview(schedule)).body.counts).toMatchObject({ frozen: 0 });
    const later = await preview({ ...schedule, start: '2026-03-04T10:30:00' });
    expect(later.body).toMatchObject({
      judged_at: '2026-03-04T09:30:00.000Z',
      next_change_at: '2026-03-04T10:00:00.001Z',
      counts: { frozen: 5 },
    });
  });

  test.each<[string, object, string[]]>([
    ['nothing matches', { matching_conditions: ['label=none'] }, ['matches_nothing']],
    ['everything matches', { matching_conditions: ['number>0'] }, ['matches_everything']],
    [
      'everything matches, and is excluded',
      { exclude_conditions: ['#title>0'] },
      ['matches_nothing', 'author_controlled_exclude'],
    ],
    [
      'an exclude by the branch’s name',
      { ...mixed, exclude_conditions: ['head~=^hotfix/'] },
      ['author_controlled_exclude', 'excludes_nothing'],
    ],
    [
      'one of two ways is the author’s',
      { ...mixed, exclude_conditions: [{ or: ['label=hotfix', 'title~=urgent'] }] },
      ['author_controlled_exclude'],
    ],
    [
      'an exclude by what the author’s workflow says',
      { ...mixed, exclude_conditions: ['check-success=e2e'] },
      ['author_controlled_exclude', 'excludes_nothing'],
    ],
    [
      'what the author keeps from matching',
      { matching_conditions: ['base=main', '-title~=urgent'] },
      ['author_controlled_exclude'],
    ],
    [
      'both are asked for, and none has both',
      { ...mixed, exclude_conditions: ['label=hotfix', 'title~=urgent'] },
      ['or_meant'],
    ],
    ['both are asked for', { ...mixed, exclude_conditions: ['label=hotfix', 'title=B'] }, []],
    [
      'a place narrows, and is no alternative',
      { exclude_conditions: ['base=release', 'label=none'] },
      ['matches_everything'],
    ],
    ['a team that is not there', { matching_conditions: ['base=main', 'author=@acme/none'] }, ['not_judged']],
  ])('warns: %s', async (_name, more, expected) => {
    expect(warnings(await preview(more))).toEqual(expected);
  });

  test('says which condition could not be judged, and why', async () => {
    const answer = await preview({ matching_conditions: ['base=release', 'author=@acme/none'] });
    expect(answer.body.counts).toMatchObject({ unknown: 1, not_matched: 4 });
    expect(answer.body.pull_requests[0].reasons).toEqual([
      expect.objectContaining({
        condition: 'author=@acme/none',
        match: null,
        error: 'there is no team @acme/none',
      }),
    ]);
  });

  test('warns if freezes are switched off, or if the repository has no pull requests', async () => {
    await acme.repository('empty');
    await acme.setProducts('acme/empty', []);
    const answer = await preview({}, '', 'acme/empty');
    expect(warnings(answer)).toEqual(['switched_off', 'matches_nothing']);
  });

  test('refuses everything that the creation refuses, all at once', async () => {
    const answer = await preview({
      end: '2020-01-01T00:00:00',
      matching_conditions: ['labl=x', { or: ['base=main', { not: '#label=x' }] }],
      exclude_conditions: ['schedule=Foo'],
    });
    expect(answer.status).toBe(422);
    expect(answer.body.detail.map(({ loc }: { loc: unknown }) => loc)).toEqual([
      ['body', 'end'],
      ['body', 'matching_conditions', 0],
      ['body', 'matching_conditions', 1, 'or', 1, 'not'],
      ['body', 'exclude_conditions', 0],
    ]);
    const [, first, second] = answer.body.detail;
    expect(first.msg).toMatch(/Did you mean `label`\? \(column 1\)$/);
    expect(second.msg).toMatch(/x is not a number\. \(column 8\)$/);
  });

  test.each(['?per_page=0', '?per_page=101', '?cursor=abc', '?cursor=-1'])('refuses %s', async (query) => {
    const answer = await preview({}, query);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc[0]).toBe('query');
  });

  test('an Idempotency-Key is neither needed nor kept', async () => {
    const send = (label: string) =>
      acme.call('POST', `/v1/repos/${web}/scheduled_freeze/preview`, {
        as: acme.admin,
        body: { ...newFreeze, matching_conditions: [label] },
        headers: { 'Idempotency-Key': 'one' },
      });
    expect((await send('label=risky')).body.counts.frozen).toBe(1);
    expect((await send('label=none')).body.counts.frozen).toBe(0);
  });

  test('while GitHub is down it is 503, with the time to try again', async () => {
    acme.github.goDown();
    const answer = await preview();
    acme.github.comeBack();
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(answer.body.detail).toMatch(/GitHub could not say which pull requests acme\/web has/);
  });
});

describe('what holds a pull request', () => {
  const explain = (number: number | string, as = acme.admin) =>
    acme.call('GET', `/v1/repos/${web}/pulls/${number}/freezes`, { as });

  test('nothing', async () => {
    expect((await explain(1)).body).toMatchObject({
      frozen: false,
      status: { state: 'success' },
      freezes: [],
    });
  });

  test('each ongoing freeze with what it does, why, and until when; no future freezes', async () => {
    const timed = { end: '2026-03-02T10:00:00', timezone: 'Europe/Paris' };
    const holding = await acme.freeze(web, { ...timed, matching_conditions: ['label=risky'] });
    const excluding = await acme.freeze(web, { exclude_conditions: ['label=risky'] });
    const other = await acme.freeze(web, { matching_conditions: ['base=release', 'schedule=Mon'] });
    const later = await acme.freeze(web, { start: '2026-03-05T10:00:00' });
    const answer = await explain(1);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      pull_request: { number: 1, title: 'A', state: 'open' },
      frozen: true,
      status: { state: 'pending', description: 'Frozen until 2026-03-02 10:00 Europe/Paris: Release' },
      next_change_at: null,
    });
    // All began in the same second, so their order is no promise.
    const of = (id: string) =>
      answer.body.freezes.find(
        (each: { scheduled_freeze: { id: string } }) => each.scheduled_freeze.id === id,
      );
    expect(answer.body.freezes).toHaveLength(3);
    expect(of(holding.id)).toMatchObject({ verdict: 'frozen', until: '2026-03-02T09:00:00.000Z' });
    expect(of(excluding.id)).toMatchObject({ verdict: 'excluded', until: null });
    expect(of(other.id)).toMatchObject({ verdict: 'not_matched', until: null });
    expect(of(other.id).reasons).toEqual([
      expect.objectContaining({ condition: 'base=release', match: false, decides: true }),
      expect.objectContaining({ condition: 'schedule=Mon', match: false, decides: true }),
    ]);
    expect((await explain(3)).body.next_change_at).toBe('2026-03-02T00:00:00.000Z');
    for (const { id } of [holding, excluding, other, later]) await acme.remove(web, id);
  });

  test('another pull request with its head', async () => {
    const shared = await acme.repository('shared', [
      { headSha: 'c'.repeat(40) },
      { headSha: 'c'.repeat(40), base: 'release' },
    ]);
    await acme.freeze(shared, { matching_conditions: ['base=release'] });
    const answer = await acme.call('GET', `/v1/repos/${shared}/pulls/1/freezes`, { as: acme.admin });
    expect(answer.body).toMatchObject({
      frozen: true,
      status: { state: 'pending', description: '#2 is frozen until removed: Release' },
      freezes: [{ verdict: 'not_matched' }],
    });
  });

  test('a closed one is held by nothing', async () => {
    const { id } = await acme.freeze(web);
    acme.github.closePullRequest(web, 5);
    await acme.quiet();
    expect((await explain(5)).body).toMatchObject({
      frozen: false,
      status: null,
      pull_request: { state: 'closed' },
    });
    acme.github.reopenPullRequest(web, 5);
    await acme.remove(web, id);
  });

  test.each(['99', '2147483648', '9223372036854775807'])('%s is not a pull request: 404', async (number) => {
    const answer = await explain(number);
    expect(answer.status).toBe(404);
    expect(answer.body.detail).toBe(`acme/web has no pull request ${number}.`);
  });

  test('is for admins', async () => {
    expect((await explain(1, bob)).status).toBe(403);
  });
});
