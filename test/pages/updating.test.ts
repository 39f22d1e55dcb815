import { beforeAll, expect, test, vi } from 'vitest';
import type { FaultMatch } from '../../sandbox/http/faults.ts';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// What an action changed is shown as changed, or as updating: never as it was before.

const acme = acmeForAll();
const ada = new Visitor(acme);
const see = async (path: string) => words(await ada.open(path));

beforeAll(async () => {
  await acme.repository('web', [{}, {}]);
  await acme.repository('api', [{}]);
  await ada.signIn('ada');
});

/** Nothing that matches reaches GitHub until it is let through. */
const hold = (match: FaultMatch) => acme.github.faults.add({ match, kind: 'delay', ms: 600_000 });
/** What verdicts need. What pages ask besides, they would wait for. */
const holdReading = () => hold(({ operationName }) => operationName === 'OpenPullRequests');

test('after a freeze ends, no page counts what it held, and all say what GitHub still blocks', async () => {
  const { id } = await acme.freeze('acme/web', { reason: 'Incident' });
  expect(await see('/repos/acme')).toMatch(
    /1 of 2 repositories of acme is frozen .* 2 pull requests blocked /,
  );
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  const [reading, writing] = [holdReading(), hold({ method: 'POST', path: /statuses/ })];
  const path = `/repos/acme/web/freezes/${id}`;
  const form = await ada.open(path);
  const version = /name="version" value="([^"]+)"/.exec(form.text)![1]!;
  const sent = await ada.send(`${path}/end`, { version, delete_reason: 'Over', reason: 'Over' });
  expect(sent.status, words(sent)).toBe(303);
  const before = [await see('/'), await see('/repos/acme'), await see('/repos/acme/web')];
  // The verdicts are new, and GitHub is still to be told.
  reading.remove();
  const { db } = acme.app.deps;
  const isJudged = async () =>
    expect(await db.openPullRequest.count({ where: { heldBy: { isEmpty: false } } })).toBe(0);
  await vi.waitFor(isJudged);
  const meanwhile = [await see('/'), await see('/repos/acme')];
  writing.remove();
  await acme.quiet();
  for (const text of [before[0], before[1], ...meanwhile]) {
    expect(text).toMatch(/Nothing is frozen in acme .*releasing 2/);
    expect(text).not.toMatch(/2 of 2|2 pull requests blocked/);
  }
  expect(before[1]).toMatch(/web Free releasing 2 /);
  expect(before[2]).toContain(
    'No freezes are ongoing. Enforced: GitHub refuses to merge what is frozen Holdfast is releasing 2 pull requests that GitHub still blocks.',
  );
  const after = await see('/repos/acme');
  expect(after).toContain('Nothing is frozen in acme');
  expect(after).not.toMatch(/releasing|updating/i);
});

test('of two freezes one ends: the counts are said to be updating', async () => {
  await acme.freeze('acme/api', { reason: 'Stays' });
  const { id } = await acme.freeze('acme/api', { reason: 'Ends' });
  const reading = holdReading();
  const path = `/v1/repos/acme/api/scheduled_freeze/${id}/delete`;
  await acme.call('POST', path, { as: acme.admin, body: { delete_reason: 'Done' } });
  const text = await see('/repos/acme');
  reading.remove();
  await acme.quiet();
  expect(text).toMatch(/1 pull requests? blocked updating/);
  expect(await see('/repos/acme')).not.toMatch(/updating/i);
});
