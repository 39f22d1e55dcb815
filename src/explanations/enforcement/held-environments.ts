import { missingPermissions } from '../../github/app-manifest.ts';
import { mayAskNow } from '../../github/ask-github.ts';
import { answersPerService } from '../../github/cache.ts';
import type { Deps } from '../../deps.ts';
import type { Freeze } from '../../freezes/freeze.ts';
import { type Fact, unknownFact } from '../../github/pull-requests/pull-request.ts';
import { type FoundRepository, repositoriesOfIds } from '../../installations/find-repository.ts';
import { within } from '../../time/clock.ts';
import { type Environments, heldAmong, type HeldEnvironments } from './judge-environments.ts';
import { readEnvironments } from './read-environment.ts';

// Where a freeze of deployments of many repositories stops nothing, as GitHub recently said. Each repository costs some
// requests, so pages share the answers, and each load asks about a few repositories.

/**
 * Milliseconds to share that GitHub waits for Holdfast somewhere, and that it waits nowhere: of that, the first answers must
 * outlast the questions about the last repositories. What GitHub tells of changed rules makes both void at once.
 */
const waitsFor = 60_000;
const loosenedFor = 5 * 60_000;
const mostKept = 1_000;
/** Milliseconds for all questions about a repository. */
const environmentsPatience = 2_000;
/**
 * Of how many repositories we want to know it, about how many of them one load asks GitHub, and how many milliseconds it
 * waits for all answers.
 */
const mostRepositories = 100;
const mostRepositoriesAsked = 10;
const loadPatience = 150;
/** The share of the hour's requests that we leave to others, and the most looks at a repository each minute. */
const leftToOthers = 1 / 2;
const looksPerMinute = 5;

const environmentsOf = answersPerService<Fact<Environments>>(mostKept, (fact) =>
  fact.known && fact.value.environments.some(({ waits }) => waits === true) ? waitsFor : loosenedFor,
);

type Row = { id: bigint; rulesVersion: number };

const keyOf = ({ id, rulesVersion }: Row): string => `${id} ${rulesVersion}`;

/** Keeps what was learned on the way, so that all pages and answers agree. */
export function noteEnvironments(
  deps: Pick<Deps, 'github' | 'clock'>,
  place: Row,
  environments: Fact<Environments> | null,
): void {
  if (environments?.known) void environmentsOf(deps).refresh(keyOf(place), async () => environments);
}

/**
 * Which environments freezes hold in repositories. Where GitHub does not say, and beyond a hundred repositories, that is
 * `unknown`; null as long as it was not asked: then pages are told when it has answered.
 * @param freezesIn those of a repository. @param patience milliseconds to wait for all answers.
 */
export async function heldEnvironmentsIn(
  deps: Deps,
  all: Row[],
  freezesIn: (id: bigint) => Pick<Freeze, 'holds' | 'environments'>[],
  patience = loadPatience,
): Promise<Map<bigint, HeldEnvironments | 'unknown' | null>> {
  const rows = all.slice(0, mostRepositories);
  const found = new Map<bigint, HeldEnvironments | 'unknown' | null>(all.map(({ id }) => [id, 'unknown']));
  const note = (id: bigint) => (fact: Fact<Environments>) =>
    void found.set(id, fact.known ? heldAmong(fact.value, freezesIn(id)) : 'unknown');
  const asked = rows
    .filter((row) => environmentsOf(deps).known(keyOf(row)) === undefined)
    .slice(0, mostRepositoriesAsked)
    .map(({ id }) => id);
  const repositories = asked.length === 0 ? [] : await repositoriesOfIds(deps.sql, asked);
  const asks = new Map(repositories.map((each) => [each.id, () => askEnvironments(deps, each)]));
  const looks = rows.map((row) => {
    const ask = asks.get(row.id);
    found.set(row.id, null);
    return (ask ? environmentsOf(deps).get(keyOf(row), ask) : environmentsOf(deps).known(keyOf(row)))?.then(
      note(row.id),
    );
  });
  const answered = Promise.all(looks);
  if (!(await within(patience, answered)))
    answered.then(
      () => deps.changes.note({ repositoryId: rows[0]!.id, about: null }),
      (error: unknown) => deps.log.warn({ err: error }, 'GitHub was not asked about environments'),
    );
  return new Map(found);
}

async function askEnvironments(deps: Deps, repository: FoundRepository): Promise<Fact<Environments>> {
  const { id, installation } = repository;
  const grants = { permissions: installation.permissions as Record<string, string>, events: [] };
  // Before the count: most installations do without, and get this answer at once.
  if (missingPermissions(grants, { actions: 'read' }).length > 0)
    return unknownFact('it needs Actions: read');
  const count = { name: `environments ${id}`, perMinute: looksPerMinute };
  if ((await mayAskNow(deps, installation.id, leftToOthers, count)) !== 'yes')
    return unknownFact('Holdfast keeps the rest of this hour’s requests to GitHub for freezes');
  return readEnvironments({ deps, repository, signal: AbortSignal.timeout(environmentsPatience) }, grants);
}
