import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { publicLooksPerMinute } from '../src/explanations/explanations-for-pages.ts';
import { heldUntilRemoved, acmeForAll, startAcme } from './support/acme.ts';
import { shortenPatience } from './support/patience.ts';
import { type Seen, Visitor, words } from './support/visitor.ts';

// The page of a pull request is open to everybody, so it asks GitHub little, and says what it knows without it.

const acme = acmeForAll();
let visitor: Visitor;
beforeEach(() => {
  visitor = new Visitor(acme);
});
afterEach(() => vi.restoreAllMocks());

const page = (repository: string, number: number): Promise<Seen> =>
  visitor.open(`/repos/${repository}/pulls/${number}`);

test('while GitHub is down the page says what was last known', async () => {
  const repository = await acme.repository('down', [{ title: 'Unseen' }, {}]);
  await acme.freeze(repository, { reason: 'Storm', matching_conditions: ['title=Unseen'] });
  acme.github.goDown();
  try {
    const held = words(await page(repository, 1));
    expect(held).toContain(
      'Pull request #1 Blocked A freeze blocks this pull request until removed . Why Storm GitHub is not available',
    );
    expect(held).toMatch(/Storm Since .* until removed\./);
    expect(held).toContain('pending Frozen until removed: Storm');
    const other = await page(repository, 2);
    expect(words(other)).toContain('Free No freeze holds this pull request. GitHub is not available');
    expect((await page(repository, 3)).status).toBe(503);
  } finally {
    acme.github.comeBack();
  }
  expect(words(await page(repository, 1))).not.toContain('GitHub is not available');
});

test('while GitHub is slow, too, and the answer serves the next load of the page', async () => {
  const repository = await acme.repository('slow', [{ title: 'Seen late' }]);
  await acme.freeze(repository, { reason: 'Storm' });
  shortenPatience();
  const fault = acme.github.faults.add({ kind: 'delay', ms: 60_000, match: { path: /graphql/ } });
  const [asked, first] = [acme.github.requests.length, await page(repository, 1)];
  expect(words(first)).toContain(
    'Blocked A freeze blocks this pull request until removed . Why Storm GitHub is not available',
  );
  fault.remove();
  expect(words(await page(repository, 1))).toContain('Seen late');
  expect(acme.github.requests.length - asked).toBe(1);
});

test('while the hour is used up, the page says until when, and what works without GitHub', async () => {
  const repository = await acme.repository('used-up', [{}]);
  await acme.freeze(repository, { reason: 'Storm' });
  const { id } = await acme.app.deps.db.installation.findFirstOrThrow();
  const resetAt = acme.clock.now() + 1_800_000;
  acme.app.deps.github.budgets.note(id, {
    'x-ratelimit-limit': 5_000,
    'x-ratelimit-remaining': 0,
    'x-ratelimit-reset': resetAt / 1000,
    'x-ratelimit-resource': 'graphql',
  });
  const { text } = await page(repository, 1);
  expect(text).toContain('GitHub’s rate limit is used up, so this page shows what Holdfast last knew.');
  expect(text).toContain(new Date(resetAt).toISOString());
  expect(text).toContain('href="/help/command-line"');
  expect(text).not.toMatch(/GitHub is not available|Reload/);
  await acme.advanceTo(new Date(resetAt));
  expect((await page(repository, 1)).text).not.toContain('is used up');
});

describe('for any number of page loads', () => {
  beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 61_000)));
  const asked = () => acme.github.requests.length;
  const numbers = Array.from({ length: publicLooksPerMinute + 5 }, (_, index) => index + 1);
  const last = numbers.length;

  test('the questions to GitHub are limited, and the page shows what is known', async () => {
    const repository = await acme.repository(
      'popular',
      numbers.map(() => ({})),
    );
    await acme.freeze(repository, { reason: 'Rush' });
    const before = asked();
    for (const number of numbers) expect(words(await page(repository, number))).toContain('Rush');
    expect(asked() - before).toBe(publicLooksPerMinute);
    for (let again = 0; again < 3; again++) await page(repository, 1);
    expect(asked() - before).toBe(publicLooksPerMinute);
    expect(words(await page(repository, last))).toContain('GitHub is not available');
    // An unknown name cannot be looked up, either.
    expect((await page(repository, 99)).status).toBe(429);
    expect((await visitor.open(`/repos/${repository}/pulls/9223372036854775807`)).status).toBe(404);
    await acme.advanceTo(new Date(acme.clock.now() + 61_000));
    expect(words(await page(repository, last))).toContain('It applies to all pull requests.');
  });

  test('pages of private repositories have looks left', async () => {
    await acme.repository('crown', [{}], { private: true, roles: { bob: 'read' } });
    const repository = await acme.repository('crowd', [{}]);
    for (const number of numbers) await page(repository, 1000 + number);
    expect((await page(repository, 2000)).status).toBe(429);
    await visitor.signIn('bob');
    expect(words(await page('acme/crown', 1))).toContain('No freeze holds this pull request.');
    expect(words(await page('acme/crown', 1))).not.toContain('GitHub is not available');
  });

  test('half of GitHub’s hourly limit stays for the work that holds pull requests', async () => {
    const small = await startAcme();
    try {
      const repository = await small.repository('popular', [{}]);
      small.github.rateLimits.graphql = 40;
      const visit = async (number: number) =>
        (await new Visitor(small).open(`/repos/${repository}/pulls/${number}`)).status;
      const seen = [];
      for (let number = 1001; number <= 1020; number++) seen.push(await visit(number));
      await small.advanceTo(new Date(small.clock.now() + 61_000));
      for (let number = 1021; number <= 1040; number++) seen.push(await visit(number));
      expect(seen.at(-1)).toBe(503);
      expect(seen.filter((status) => status === 404).length).toBeLessThanOrEqual(20);
      await small.freeze(repository);
      expect(small.shown(repository, 1)).toEqual(heldUntilRemoved);
    } finally {
      await small.close();
    }
  });

  test('one look serves everybody who wants the same at once, even a missing page', async () => {
    const repository = await acme.repository('rush', [{}]);
    for (const number of [1, 77]) {
      const before = asked();
      const seen = await Promise.all(Array.from({ length: 20 }, () => page(repository, number)));
      expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([number === 1 ? 200 : 404]));
      await page(repository, number);
      expect(asked() - before).toBe(1);
    }
  });
});
