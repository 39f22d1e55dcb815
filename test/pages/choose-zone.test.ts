import { afterEach, beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

const acme = acmeForAll();
const page = '/repos/acme/web';

beforeAll(() => acme.repository('web', [{}]));
afterEach(() => acme.github.assertNoUnknownRoutes());

async function reader() {
  const visitor = new Visitor(acme);
  const { publicUrl } = acme.app.deps.config;
  const choose = (zone: string, from = page, site = 'same-origin') =>
    visitor.send(
      '/time-zone',
      { own_zone: zone },
      { 'Sec-Fetch-Site': site, Referer: `${publicUrl}${from}`, Origin: 'https://elsewhere.example' },
    );
  return {
    visitor,
    choose,
    zone: async () => /Time zone<\/span> <strong>([^<]*)</.exec((await visitor.open(page)).text)?.[1],
  };
}

test.each([
  ['America/New_York', 'New York'],
  ['new york', 'New York'],
  ['europe/berlin', 'Berlin'],
  ['utc', 'UTC'],
])('%s is chosen in the header, without scripts, and applies to every page', async (typed, name) => {
  const { choose, zone } = await reader();
  expect(await zone()).toBe('UTC');
  const answer = await choose(typed);
  expect([answer.status, answer.location]).toEqual([303, page]);
  expect(await zone()).toBe(name);
});

test('times are in the zone that was chosen, and an empty choice forgets it', async () => {
  const { id } = await acme.freeze('acme/web', { end: '2026-03-03T12:00:00', timezone: 'Europe/Paris' });
  const { visitor, choose } = await reader();
  await choose('Asia/Tokyo');
  const shown = async () => words(await visitor.open(`${page}/freezes/${id}`));
  expect(await shown()).toContain('until Tue 3 Mar, 20:00 (12:00 Paris)');
  await choose('Berlin');
  expect(await shown()).toContain('until Tue 3 Mar, 12:00 ');
  expect(await shown()).not.toContain('Paris)');
  await choose('');
  expect(await shown()).toContain('until Tue 3 Mar, 11:00 UTC (12:00 Paris)');
  await acme.remove('acme/web', id);
});

test('pages without times have the switch too', async () => {
  const { visitor, choose } = await reader();
  await visitor.signIn('ada');
  await choose('Asia/Tokyo');
  const { id } = await acme.freeze('acme/web');
  const pages = [
    ...['/a/b/c/d', '/repos/acme/absent', '/help', '/help/plans', '/help/search?q=plan', '/help/absent'],
    ...['/owners/acme/first-steps', `/owners/acme/progress?freeze=${id}`],
  ];
  for (const path of pages)
    expect([path, (await visitor.open(path)).text]).toEqual([
      path,
      expect.stringContaining('Time zone</span> <strong>Tokyo'),
    ]);
  await acme.remove('acme/web', id);
});

test('a zone in the address does not hide the choice', async () => {
  const { choose } = await reader();
  expect((await choose('Asia/Tokyo', `${page}?zone=Europe/Paris&zoom=week`)).location).toBe(
    `${page}?zoom=week`,
  );
});

test('what is no time zone is refused in words, and the choice stays', async () => {
  const { visitor, choose, zone } = await reader();
  await choose('Asia/Tokyo');
  for (const nonsense of ['Mars/Olympus', '+01:00', 'x; path=/', 'ç']) {
    const answer = await visitor.open((await choose(nonsense)).location);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('This is not a time zone');
    expect(answer.text).toContain(`href="${page}"`);
  }
  expect(await zone()).toBe('Tokyo');
});

test('it leads to no other site, and other sites cannot choose', async () => {
  const { choose, zone } = await reader();
  for (const from of ['//evil.example/x', '/\\evil.example', '/.//evil.example'])
    expect((await choose('Asia/Tokyo', from)).location).not.toMatch(/evil|^\/\/|\\/);
  expect((await choose('Europe/Paris', page, 'cross-site')).status).toBe(403);
  expect(await zone()).toBe('Tokyo');
});
