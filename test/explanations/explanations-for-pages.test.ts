import { beforeEach, expect, test } from 'vitest';
import { ExplanationsForPages } from '../../src/explanations/explanations-for-pages.ts';
import { findRepository, type FoundRepository } from '../../src/installations/find-repository.ts';
import { OpenStreams } from '../../src/pages/live.ts';
import { showablePullRequest } from '../../src/pages/status/shown-pull-request.ts';
import { CallerLimits } from '../../src/github/limits/caller-limits.ts';
import { acmeForAll } from '../support/acme.ts';
import { exemptionsOf } from '../support/exemptions.ts';

// What GitHub said of a pull request serves its page for some seconds. What Holdfast itself knows is always of now: an
// open page asks again once it hears of a change, and then nothing tells it to ask a third time.

const acme = acmeForAll();
let made = 0;
/** The repository as its first page found it: what GitHub said then still counts. */
let repository: FoundRepository;
let name: string;
beforeEach(async () => {
  name = await acme.repository(`app-${++made}`, [{}]);
  repository = await findRepository(acme.app.deps, 'acme', `app-${made}`);
});

function pageOfIt() {
  const { deps } = acme.app;
  const explanations = new ExplanationsForPages(deps.clock);
  const given = { ...deps, explanations, limits: new CallerLimits(deps.clock), streams: new OpenStreams() };
  return async () => {
    const shown = await showablePullRequest(given, repository, 1n, false);
    if (typeof shown === 'string') throw new Error(shown);
    return shown;
  };
}

test('a request that is approved and revoked counts at once', async () => {
  await acme.freeze(name);
  const load = pageOfIt();
  expect((await load()).holding).toHaveLength(1);
  const exemption = await exemptionsOf(acme).exempt(name, 1);
  expect(await load()).toMatchObject({ holding: [], live: { status: { state: 'success' } } });
  await exemptionsOf(acme).decide('revoke', name, exemption);
  expect(await load()).toMatchObject({ holding: [{ pass: null }], live: { status: { state: 'pending' } } });
});

test('the status that GitHub shows is the one that we wrote since', async () => {
  const load = pageOfIt();
  const stateOf = async () => (await load()).live!.pullRequest.status?.state;
  expect(await stateOf()).toBe('success');
  await acme.freeze(name);
  expect(acme.shown(name, 1)?.state).toBe('pending');
  expect(await stateOf()).toBe('pending');
  expect((await load()).notHeld).not.toBe('waiting');
});

test('an exemption that outlives its freeze changes nothing at its end', async () => {
  const load = pageOfIt();
  const { id } = await acme.freeze(name, { end: '2026-03-02T09:00:00' });
  const expires_at = '2026-03-03T09:00:00Z';
  await exemptionsOf(acme).exempt(name, 1, { expires_at });
  expect((await load()).live!.nextChangeAt).toBeNull();
  await acme.update(name, id, { end: '2026-03-05T09:00:00' });
  expect((await load()).live!.nextChangeAt).toEqual(new Date(expires_at));
});
