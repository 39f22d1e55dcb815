import pLimit from 'p-limit';
import { countUnsaid, type Unsaid } from './enforcement/blocked.ts';
import { ifKnown, knownEnforcement, placeEnforcement } from './enforcement/recent-enforcement.ts';
import { nowOf, within } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { answersPerService } from '../github/cache.ts';
import { believed } from '../database/sql.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { freezeProducts } from '../installations/product.ts';
import { releasingIn, statusesOfHeld } from '../statuses/desired-store.ts';
import { whyNotHeld, mergeAnswer } from '../statuses/held-pull-requests.ts';
import { repositoriesOfIds } from '../installations/find-repository.ts';

/** A repository and its current state according to our tables. Freezes of deployments have fields of their own. */
export type RepositoryState = {
  id: bigint;
  name: string;
  private: boolean;
  archived: boolean;
  /** Counts what GitHub told of changed rules. */
  rulesVersion: number;
  /** Whether freezes can hold anything in this repository. */
  isFreezable: boolean;
  /** The number of ongoing freezes, and when the last of them ends; null if one has no end or none is ongoing. */
  ongoing: number;
  until: Date | null;
  /** When the next freeze begins; null if none is scheduled. */
  next: Date | null;
  /** The number of ongoing freezes of deployments, and of deployments that wait. */
  ofDeployments: number;
  deploymentsWait: number;
  /** Pull requests: known to be held; waiting for their status, or unable to get one that GitHub requires; and those that GitHub would merge. */
  held: number;
  waiting: number;
  leaking: number;
  /** Those of which GitHub has not said whether it refuses them. */
  unsaid: number;
  /** What is among the held until `withBlocked` has judged it. */
  unjudged: Unsaid[];
  /** Pull requests that no freeze holds any more, and that GitHub still blocks. */
  releasing: number;
  /** Whether Holdfast is about to look at the open pull requests again, because freezes changed. */
  isUpdating: boolean;
  /** Whether the open pull requests were not checked since an ongoing freeze began. Before that, nobody knows what it holds. */
  toJudge: boolean;
  /** What GitHub recently said about an ongoing freeze. */
  enforced: EnforcedWord;
  /** Exemption requests that wait for a decision. */
  requests: number;
};

export type StateName = 'frozen' | 'scheduled' | 'free' | 'archived';

export const repositoryStateOf = ({ ongoing, next, archived }: RepositoryState): StateName =>
  archived ? 'archived' : ongoing > 0 ? 'frozen' : next ? 'scheduled' : 'free';

/** Whether freezes of deployments are ongoing there. */
export const areDeploymentsFrozen = ({ archived, ofDeployments }: RepositoryState): boolean =>
  !archived && ofDeployments > 0;

/** Whether GitHub enforces a repository's freezes on its default branch; null if it has not said so yet. */
export type EnforcedWord = boolean | 'unknown' | null;

/** Whether we know that an ongoing freeze is not enforced. */
export const isNotEnforced = (state: RepositoryState): boolean =>
  !state.archived &&
  (state.leaking > 0 || (state.ongoing > 0 && (!state.isFreezable || state.enforced === false)));

/** Whether an ongoing freeze may or may not be enforced: GitHub did not say, or was not asked yet. */
export const isUnknown = (state: RepositoryState): boolean =>
  !state.archived && state.ongoing > 0 && state.enforced !== true && !isNotEnforced(state);

type RepositoryRow = Record<'id' | 'name', string> &
  Record<'private' | 'archived' | 'isFreezable' | 'toJudge' | 'isUpdating', boolean> &
  Record<
    | 'ongoing'
    | 'ofDeployments'
    | 'deploymentsWait'
    | 'held'
    | 'waiting'
    | 'leaking'
    | 'releasing'
    | 'requests'
    | 'rulesVersion',
    number
  > &
  Record<'until' | 'next', string | null> & { unsaid: [base: string | null, count: number, asked: number][] };

/**
 * The repositories of some owners where the App is installed, the most important first: freezes that are not enforced,
 * then frozen, then scheduled, then by name. Takes one statement for any number of repositories.
 */
export async function repositoryStates(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  accountIds: bigint[],
): Promise<Map<bigint, RepositoryState[]>> {
  const now = nowOf(clock);
  // Each owner is one JSON column: drivers parse every column of every row, and there may be thousands of rows. The counts
  // have no other repositories, so a full join is a left join; but PostgreSQL never makes it a nested loop, which it chooses
  // for a new table that it has no statistics of, and which then reads all counts for each repository.
  const rows = await db.$queryRaw<{ account_id: bigint; repositories: RepositoryRow[] }[]>`
    WITH repository AS (
      SELECT r.*, r.reconcile_requested_at IS NOT NULL AND i.suspended_at IS NULL AND NOT r.archived AS is_updating
      FROM repositories r JOIN installations i ON i.id = r.installation_id
      WHERE r.account_id = ANY (${accountIds}::int8[]) AND i.deleted_at IS NULL
    ), frozen AS (
      SELECT f.repository_id, count(*) FILTER (WHERE of_merges AND f.starts_at <= ${now}) AS ongoing,
        count(*) FILTER (WHERE 'deployments' = ANY (f.holds) AND f.starts_at <= ${now}) AS of_deployments,
        CASE WHEN NOT bool_or(of_merges AND f.ends_at IS NULL AND f.starts_at <= ${now})
          THEN max(f.ends_at) FILTER (WHERE of_merges AND f.starts_at <= ${now}) END AS until,
        min(f.starts_at) FILTER (WHERE of_merges AND f.starts_at > ${now}) AS next,
        bool_or(of_merges AND f.starts_at <= ${now} AND ${isToJudge(Prisma.raw('f'), Prisma.raw('repository'))}) AS to_judge
      FROM freezes f JOIN repository ON repository.id = f.repository_id,
        LATERAL (SELECT f.holds = '{}' OR 'merges' = ANY (f.holds) AS of_merges) AS kind
      WHERE f.deleted_at IS NULL AND (f.ends_at IS NULL OR f.ends_at > ${now})
      GROUP BY f.repository_id
    ), waits AS (
      SELECT d.repository_id, count(*) AS deployments_wait FROM deployments d
        JOIN repository ON repository.id = d.repository_id
      WHERE d.state = 'waiting' GROUP BY d.repository_id
    ), pulls AS (
      SELECT repository_id, sum(held) AS held, sum(leaking) AS leaking, sum(waiting) AS waiting,
        json_agg(json_build_array(base_ref, unsaid, asked)) FILTER (WHERE unsaid > 0) AS unsaid
      FROM (
        SELECT repository_id, base_ref, count(*) FILTER (WHERE why IS NULL) AS held,
          count(*) FILTER (WHERE why IS NULL AND answer IS DISTINCT FROM 'refuses') AS unsaid,
          count(*) FILTER (WHERE why IS NULL AND answer = 'asked') AS asked,
          count(*) FILTER (WHERE why = 'leaking') AS leaking, count(*) FILTER (WHERE why <> 'leaking') AS waiting
        FROM (
          SELECT held.repository_id, held.base_ref, ${whyNotHeld} AS why, ${mergeAnswer(now)} AS answer
          FROM open_pull_requests held JOIN repository ON repository.id = held.repository_id ${statusesOfHeld}
          WHERE cardinality(held.held_by) > 0
        ) AS judged GROUP BY repository_id, base_ref
      ) AS of_branch GROUP BY repository_id
    ), releasing AS (
      ${releasingIn}
    ), asked AS (
      SELECT e.repository_id, count(*) AS requests FROM exemptions e JOIN repository ON repository.id = e.repository_id
      WHERE e.ended_at IS NULL AND e.state = 'requested' AND e.expires_at > ${now} GROUP BY e.repository_id
    )
    SELECT account_id, json_agg(json_build_object('id', id::text, 'name', name, 'private', private,
      'archived', archived, 'isFreezable', NOT archived AND products && ${freezable},
      'toJudge', coalesce(to_judge, false), 'ongoing', coalesce(ongoing, 0),
      'ofDeployments', coalesce(of_deployments, 0), 'deploymentsWait', coalesce(deployments_wait, 0),
      'until', until, 'next', next, 'rulesVersion', rules_version, 'held', coalesce(held, 0), 'unsaid', coalesce(unsaid, '[]'), 'waiting', coalesce(waiting, 0),
      'leaking', coalesce(leaking, 0), 'releasing', coalesce(releasing, 0), 'isUpdating', is_updating, 'requests', coalesce(requests, 0)) ORDER BY name_key) AS repositories
    FROM repository FULL JOIN frozen ON frozen.repository_id = id FULL JOIN pulls ON pulls.repository_id = id
      FULL JOIN releasing ON releasing.repository_id = id FULL JOIN asked ON asked.repository_id = id
      FULL JOIN waits ON waits.repository_id = id
    GROUP BY account_id`;
  return new Map(
    rows.map(({ account_id, repositories }) => [account_id, repositories.map(readStates).sort(byWeight)]),
  );
}

/** The same for one owner. */
export const repositoriesOfAccount = async (
  deps: Pick<Deps, 'db' | 'clock'>,
  accountId: bigint,
): Promise<RepositoryState[]> => (await repositoryStates(deps, [accountId])).get(accountId) ?? [];

const freezable = Prisma.raw(`ARRAY['${freezeProducts.join("', '")}']::"Product"[]`);

/**
 * Whether the open pull requests of a repository, where a freeze can hold something, were not checked since it began and
 * was made.
 * @param freeze the name of its row. @param repository the name of the row of its repository.
 */
export const isToJudge = (freeze: Prisma.Sql, repository: Prisma.Sql): Prisma.Sql => Prisma.sql`(
  NOT ${repository}.archived AND ${repository}.products && ${freezable} AND NOT coalesce(
    ${Prisma.raw(believed(`${repository.sql}.reconciled_at`, 'job_now()'))}
      >= greatest(${freeze}.starts_at, ${freeze}.created_at), false))`;

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** What was held when it was last looked at, and no freeze is on any more, is being released. */
const stateCountsOf = ({
  id,
  rulesVersion,
  ongoing,
  held,
  unsaid,
  waiting,
  leaking,
  releasing,
}: RepositoryRow) => {
  const isOf = { id: BigInt(id), rulesVersion };
  return ongoing > 0
    ? {
        held,
        waiting,
        leaking,
        releasing,
        unjudged: unsaid.map(([base, count, asked]) => ({ ...isOf, base, count, asked })),
      }
    : { held: 0, waiting: 0, leaking: 0, releasing: releasing + held + waiting, unjudged: [] };
};

const readStates = (row: RepositoryRow): RepositoryState => ({
  ...row,
  ...stateCountsOf(row),
  unsaid: 0,
  enforced: null,
  id: BigInt(row.id),
  until: dateOf(row.until),
  next: dateOf(row.next),
});

/**
 * Counts as held what GitHub refuses to merge, as far as it has said so. Asks GitHub nothing.
 * @param insides as of `countUnsaid`.
 */
export const withBlocked = (
  deps: Deps,
  all: RepositoryState[],
  insides: Parameters<typeof countUnsaid>[2],
): Promise<RepositoryState[]> =>
  Promise.all(
    all.map(async (each) => {
      if (each.unjudged.length === 0) return each;
      const { loose, unsaid } = await countUnsaid(deps, each.unjudged, insides);
      const [held, waiting] = [each.held - loose - unsaid, each.waiting + loose];
      return { ...each, held, waiting, unsaid, unjudged: [] };
    }),
  );

const weights: Record<StateName, number> = { frozen: 1, scheduled: 2, free: 3, archived: 4 };
const weightOf = (state: RepositoryState): number =>
  isNotEnforced(state) ? 0 : weights[repositoryStateOf(state)];

const toHold = ({ held, waiting, unsaid }: RepositoryState): number => held + waiting + unsaid;

/** Sorts the most important repositories first, and keeps the order of equal ones. */
export function byWeight(one: RepositoryState, other: RepositoryState): number {
  const [weight, others] = [weightOf(one), weightOf(other)];
  if (weight !== others) return weight - others;
  if (weight <= 1) return other.leaking - one.leaking || toHold(other) - toHold(one);
  return weight === 2 ? one.next!.getTime() - other.next!.getTime() : 0;
}

/** Adds what GitHub recently said about ongoing freezes, and puts those first that are not enforced. Asks GitHub nothing. */
export async function withKnownEnforcement(deps: Deps, all: RepositoryState[]): Promise<RepositoryState[]> {
  const known = all.map(async (each) => {
    const enforced = each.ongoing > 0 ? await ifKnown(knownEnforcement(deps, each, { base: null })) : null;
    return { ...each, enforced };
  });
  return (await Promise.all(known)).sort(byWeight);
}

/** How many repositories are asked about at the same time, behind a page. */
const branchesSideBySide = 6;
const mostSweeps = 100;
// Not kept: what is known already is not asked about again.
const sweepsOf = answersPerService<null>(mostSweeps, () => 0);

/**
 * Asks GitHub about every ongoing freeze of which it is not known whether it is enforced: the next load of the page
 * knows the answers. Nobody waits for it, so it leaves half of the hour's requests to others.
 */
export function askBehindPage(deps: Deps, accountId: bigint, all: RepositoryState[]): void {
  const ids = all.filter(isUnknown).map(({ id }) => id);
  if (ids.length === 0) return;
  const sweep = async () => {
    const limit = pLimit(branchesSideBySide);
    await limit.map(await repositoriesOfIds(deps.sql, ids), (repository) =>
      deps.stopping.aborted ? null : placeEnforcement(deps, repository, { base: null }, 1 / 2),
    );
    tellOfAnswers(deps, all, [null]);
    return null;
  };
  sweepsOf(deps)
    .get(String(accountId), sweep)
    .catch((error: unknown) => deps.log.warn({ err: error }, 'GitHub was not asked what it enforces'));
}

/** Lets pages show answers of GitHub that came after they were made. @param before the repositories, as pages showed them. */
function tellOfAnswers(deps: Deps, before: RepositoryState[], branches: (string | null)[]): void {
  const isNew = (each: RepositoryState) =>
    each.enforced === null &&
    branches.every((branch) => knownEnforcement(deps, each, { base: branch }) !== undefined);
  const told = before.find((each) => (each.ongoing > 0 || each.next) && isNew(each));
  if (told) deps.changes.note({ repositoryId: told.id, about: null });
}

/** About how many repositories one page load asks GitHub. The next load asks about the next ones. */
const mostRepositoriesAsked = 10;
/** How many milliseconds the page waits for all answers. Later answers show on the next load. */
const enforcedPatience = 150;

/**
 * Whether freezes are enforced in the repositories with an ongoing or scheduled freeze. Answers are a few minutes old at
 * most.
 * @param rows the most important repositories first. @param branches the branches to check; null is the default branch.
 */
export const enforcedOf = (
  deps: Deps,
  rows: RepositoryState[],
  branches: (string | null)[] = [null],
): Promise<Map<bigint, EnforcedWord>> =>
  requiredIn(
    deps,
    rows.filter(({ archived, ongoing, next }) => !archived && (ongoing > 0 || next)),
    branches,
  );

/** Whether freezes would be enforced in repositories, also in those without one. */
export async function requiredIn(
  deps: Deps,
  interesting: RepositoryState[],
  branches: (string | null)[] = [null],
): Promise<Map<bigint, EnforcedWord>> {
  const found = new Map<bigint, EnforcedWord>();
  const asked: bigint[] = [];
  for (const row of interesting) {
    const known = branches.map((branch) => knownEnforcement(deps, row, { base: branch }));
    found.set(row.id, isNotEnforced(row) ? false : onAll(await Promise.all(known.map(ifKnown))));
    if (!isNotEnforced(row) && known.includes(undefined) && asked.length < mostRepositoriesAsked)
      asked.push(row.id);
  }
  if (asked.length === 0) return found;
  const looks = (await repositoriesOfIds(deps.sql, asked)).map(async (repository) => {
    const words = branches.map((branch) => placeEnforcement(deps, repository, { base: branch }));
    found.set(repository.id, onAll(await Promise.all(words)));
  });
  const answered = Promise.all(looks);
  if (!(await within(enforcedPatience, answered))) {
    const unanswered = interesting.filter(({ id }) => asked.includes(id) && found.get(id) === null);
    const tell = () => tellOfAnswers(deps, unanswered, branches);
    answered.then(tell, () => {});
  }
  return found;
}

/** The worst answer of all branches counts. */
function onAll(words: EnforcedWord[]): EnforcedWord {
  const [worst] = ([false, null, 'unknown'] as const).filter((word) => words.includes(word));
  return worst === undefined ? true : worst;
}
