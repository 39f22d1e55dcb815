import { beforeAll, describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { commandLineFor } from './support/command-line.ts';
import { Visitor, words } from './support/visitor.ts';

// Nothing merges in an archived repository: it is in no count, no list and no finding. Previews and plans name it once.

const acme = acmeForAll();
const body = {
  ...{ name: 'Everything', reason: 'Everything', repositories: { include: ['*'] } },
  ...{ start: null, end: '2026-03-02T09:00:00', timezone: 'UTC' },
};
const weekly = {
  ...{ ...body, name: 'Weekly', reason: 'Weekly' },
  ...{ start: '2026-03-06T18:00:00', end: '2026-03-06T20:00:00', recurrence: { rule: 'FREQ=WEEKLY' } },
};
const plans = '/v1/freeze_plans/acme';
const call = (method: 'GET' | 'POST', path: string, sent?: object) =>
  acme.call(method, path, { as: acme.admin, ...(sent && { body: sent }) });
const create = async (sent: object): Promise<string> => (await call('POST', plans, sent)).body.id;
let ada: Visitor;
let plan: string;

beforeAll(async () => {
  for (const name of ['web', 'api', 'old']) await acme.repository(name, [{}]);
  ada = new Visitor(acme);
  await ada.signIn('ada');
  // Frozen when it was archived: the plan still has a freeze there.
  plan = await create(body);
  await create(weekly);
  await acme.quiet();
  acme.github.archive('acme/old');
  await acme.quiet();
});

const see = async (path: string): Promise<string> => {
  const page = await ada.open(path);
  expect(page.status).toBe(200);
  return words(page);
};

test.each<[path: string, says: RegExp]>([
  ['/', / acme is frozen until .* 2 pull requests blocked /],
  ['/repos/acme', /acme is frozen until .*Everything Frozen until .*2 pull requests blocked web , api , by /],
  ['/owners/acme/freeze', /All 2 /],
  ['/owners/acme/unfreeze', /The entire plan\. Holds 2 pull requests in 2 repositories: api, web /],
  [
    '/owners/acme/calendar',
    /Freezes of March 2026 .* Everything web, api .* Weekly web, api .* Weekly api, web /,
  ],
  ['/owners/acme/exemptions', /Exemptions/],
])('%s neither counts nor names it', async (path, says) => {
  const text = await see(path);
  expect(text).toMatch(says);
  // Beside the options of the filter.
  expect(text.replace('Not enforced Not known', '')).not.toMatch(/\bold\b|Not enforced|3 repositories/);
});

test('the list of repositories has it behind a filter only', async () => {
  expect(await see('/repos/acme?state=archived')).toMatch(/old Everything Archived – – /);
  expect(await see('/repos/acme?q=old')).toContain('No repositories match');
});

describe('a plan', () => {
  test('names it once on its page, and on no other counts', async () => {
    const text = await see(`/owners/acme/plans/${plan}`);
    expect(text).toMatch(/Ongoing until Mon 2 Mar, 09:00 UTC 2 pull requests blocked 2 repositories /);
    expect(text.match(/\bold\b/g)).toEqual(['old']);
    expect(text).toContain('1 archived repository is skipped: old.');
    expect(await see(`/owners/acme/progress?plan=${plan}`)).toMatch(
      /2 pull requests blocked on GitHub in 2 repositories Frozen/,
    );
  });

  test('has it in a field of its own in the answers of the API', async () => {
    for (const shown of [
      (await call('GET', `${plans}/${plan}`)).body,
      (await call('GET', plans)).body.freeze_plans[0],
    ])
      expect(shown).toMatchObject({ repositories_matched: 2, not_enforced: [], archived: ['old'] });
    const enforcement = (await call('GET', `${plans}/${plan}/enforcement`)).body;
    expect(enforcement).toMatchObject({ repositories: 2, to_hold: 2, held: 2, not_enforced: [] });
    const one = { ...body, repositories: { include: ['web'] } };
    expect((await call('POST', `${plans}/preview`, one)).body).not.toHaveProperty('archived');
  });

  test('is previewed without it, on pages, by the API and on the command line', async () => {
    const preview = (await call('POST', `${plans}/preview`, body)).body;
    expect(preview).toMatchObject({
      repositories_matched: 2,
      to_hold: 2,
      not_enforced: [],
      archived: ['old'],
    });
    expect(preview.repositories.map(({ name }: { name: string }) => name)).toEqual(['api', 'web']);
    const fields = { reason: 'All', which: 'all', duration: '1h', zone: 'UTC', step: 'preview' };
    const form = words(await ada.send('/owners/acme/freeze', fields));
    expect(form).toMatch(/2 pull requests in 2 repositories would be blocked\. .*Freeze 2 repositories/);
    expect(form).toContain('1 archived repository is skipped: old.');
    expect(form).not.toMatch(/freezes are switched off|not enforced/i);
  });

  test('ends as a whole, although a freeze of it is in an archived repository', async () => {
    const { text } = await ada.open('/owners/acme/unfreeze');
    expect(text).toContain(`value="plan ${plan}"`);
  });
});

test('the command line lists, previews and checks without it', async () => {
  const { holdfast, close } = commandLineFor(acme, acme.admin);
  const listed = await holdfast(['list', 'acme']);
  expect(listed.out).toContain('acme (2)');
  expect(listed.out).not.toContain('old');
  expect((await holdfast(['products', 'list', 'acme'])).out).not.toContain('old');
  const preview = await holdfast(['freeze', 'acme', '--all', '-m', 'All', '--for', '1h', '--dry-run']);
  expect(preview.out).toContain('1 archived repository is skipped: old.');
  expect(preview.err).not.toContain('old');
  expect(preview.code).toBe(0);
  close();
});

test('the answer that lists repositories says which are archived', async () => {
  const answer = (await call('GET', '/v1/repos/acme')).body;
  expect(answer.repositories.map(({ name }: { name: string }) => name)).toEqual(['api', 'old', 'web']);
  expect(answer.archived).toEqual(['old']);
});

test('a calendar for calendar apps counts it neither in what is frozen nor in what will be', async () => {
  const { url } = (await call('POST', '/v1/calendars/acme', { public_text: false })).body;
  const text = await (await fetch(acme.app.url + new URL(url).pathname)).text();
  const titles = [...text.matchAll(/^SUMMARY:(.*)\r$/gm)].map(([, title]) => title);
  expect(new Set(titles)).toEqual(
    new Set(['Freeze of 2 repositories: Everything', 'Freeze of 2 repositories: Weekly']),
  );
  expect(text).not.toMatch(/\bold\b/);
});

test('the doctor says that it is archived, and finds nothing else wrong there', async () => {
  const { body: report } = await call('GET', '/v1/repos/acme/old/enforcement');
  expect(report).toMatchObject({ enforced: true, not_held: [], findings: [{ check: 'installation' }] });
  expect(report.findings[0].message).toContain('acme/old is archived');
});

test('ending an occurrence ends what is used, and complains of nothing', async () => {
  const nightly = { ...weekly, name: 'Nightly', reason: 'Nightly', recurrence: { rule: 'FREQ=DAILY' } };
  acme.github.unarchive('acme/old');
  await acme.quiet();
  const id = await create({ ...nightly, start: '2026-03-01T08:00:00', end: '2026-03-01T20:00:00' });
  acme.github.archive('acme/old');
  await acme.quiet();
  const on = { ongoing: `freezes ${id}`, delete_reason: 'Enough' };
  expect((await ada.send('/owners/acme/unfreeze', on)).location).toContain('said=unfrozen');
  expect(await see('/owners/acme/unfreeze')).not.toContain('Nightly');
  await call('POST', `${plans}/${id}/delete`, { delete_reason: 'Enough' });
});
