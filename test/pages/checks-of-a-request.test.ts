import { beforeAll, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { exemptionsOf } from '../support/exemptions.ts';
import { Visitor, words } from '../support/visitor.ts';

// Whoever decides on a request sees how the checks of its pull request are, wherever the request is listed.

const acme = acmeForAll();
const web = 'acme/web';
let ada: Visitor;
let wendy: string;
let freeze: { id: string };

const check = (name: string, conclusion?: 'success' | 'failure' | 'skipped') =>
  acme.github.reportCheck(web, 1, { name, ...(conclusion && { conclusion }) });

beforeAll(async () => {
  acme.github.addUser('wendy');
  await acme.repository('web', [{}, {}], { roles: { wendy: 'write' } });
  wendy = acme.github.addToken('wendy', { kind: 'classic', scopes: ['repo'] });
  ada = new Visitor(acme);
  await ada.signIn('ada');
  freeze = await acme.freeze(web, { reason: 'Incident' });
  await acme.quiet();
});

const lists = ['/', '/repos/acme', '/owners/acme/exemptions'];

/** What the card of a request says of checks, in every list. */
const everywhere = async (number: number): Promise<string[]> =>
  Promise.all(
    lists.map(async (path) => {
      const card = words(await ada.open(path)).split(`acme/web #${number}`)[1] ?? '';
      return /Checks unknown|No checks|Checks: [^B]*?(?= Blocked by)/.exec(card)?.[0] ?? card.slice(0, 80);
    }),
  );

/** Waits until every list says it. */
const says = (number: number, text: string) =>
  vi.waitFor(async () => {
    await acme.advanceTo(new Date(acme.clock.now() + 10_000));
    await acme.quiet();
    expect(await everywhere(number)).toEqual(lists.map(() => text));
  });

test('how the checks were before the request, without the check of Holdfast', async () => {
  check('build', 'success');
  check('lint', 'skipped');
  check('e2e');
  await exemptionsOf(acme).exempt(web, 1, { reason: 'A fix' }, wendy);
  await says(1, 'Checks: 2 passing, 1 pending');
});

test('what changes while the request waits', async () => {
  check('e2e', 'failure');
  await says(1, 'Checks: 2 passing, 1 failing');
});

test('a pull request without checks, and one of which GitHub does not say', async () => {
  await exemptionsOf(acme).exempt(web, 2, { reason: 'Another' }, wendy);
  await says(2, 'No checks');
  acme.github.faults.add({ kind: 'partial', field: 'statusCheckRollup', pullRequests: [`${web}#2`] });
  acme.github.editTitle(web, 2, 'Another title');
  await says(2, 'Checks unknown');
  await says(1, 'Checks: 2 passing, 1 failing');
});

test('when nothing blocks the pull request any more, every list says so', async () => {
  await acme.remove(web, freeze.id);
  await acme.quiet();
  for (const path of lists) {
    const card = words(await ada.open(path)).split('acme/web #1')[1] ?? '';
    expect([path, card.includes('No freeze blocks it now.')]).toEqual([path, true]);
  }
});
