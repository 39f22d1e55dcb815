import { nowOf, type ClockReading, readingOf } from '../time/clock.ts';
import { believed, type SqlRow } from '../database/sql.ts';
import type { FactNeeds } from '../conditions/needs.ts';
import type { Exemption } from '../exemptions/exemption.ts';
import {
  exemptionColumns,
  exemptionIn,
  type ExemptionRow,
  isIdle,
  lately,
} from '../exemptions/exemption-store.ts';
import { holdsDeployments, holdsMerges, type StoredFreeze } from '../freezes/freeze.ts';
import { type FreezeJson, freezeJson, fromJson } from '../freezes/freeze-columns.ts';
import { isNotEnded } from '../freezes/freeze-store.ts';
import { isDecided, needsOf, parseStoredFreezes, type ParsedFreeze } from '../freezes/judge-freeze.ts';
import type { Account, Installation, Repository } from '../generated/prisma/client.ts';
import { classifyGitHubError, NotOurRepository } from '../github/github-error.ts';
import { checkAccessAfter, pauseInstallation } from '../github/ask-github.ts';
import type { LoadFrom, LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { fullName } from '../installations/find-repository.ts';
import { freezesAreOn } from '../installations/product.ts';
import { settingSql, type SettingValues } from '../installations/setting-fields.ts';
import { inSteps, jobs, type PullRequestEvent } from '../database/queue/jobs.ts';
import { NotNow, presentOf } from '../database/queue/define-task.ts';
import { forgetAllGroups } from './desired-store.ts';
import { mostNamedInFew } from './plan-write.ts';
import type { StatusDeps } from './status-deps.ts';
import type { Stack } from '../github/pull-requests/pull-request.ts';

/** A repository that GitHub may be asked about. */
export type ObservedRepository = Pick<Repository, 'id' | 'accountId' | 'name' | 'products'> & {
  account: Pick<Account, 'login' | 'type'>;
  installation: Pick<Installation, 'id' | 'permissions'>;
};

/** Everything that we need to judge pull requests of a repository at one instant. */
export type Observed = {
  repository: ObservedRepository;
  /** The number of this observation. Its results never replace those of a later observation. */
  observation: bigint;
  observedAt: Date;
  /** The clock, when it said that instant. */
  clockThen: ClockReading;
  /** The ongoing freezes that hold merges; none if freezes are switched off. */
  freezes: ParsedFreeze[];
  /** The ids of those that began in few repositories. */
  ofFew: ReadonlySet<string>;
  /** Exemptions that are not over, or that ended recently. */
  exemptions: Exemption[];
  /** The ids of freezes that are not over and have a public reason. */
  hiding: string[];
  /** Whether some exemptions only have freezes that are over. */
  hasIdleExemptions: boolean;
  /** How a freeze holds at once. */
  instantHold: SettingValues['instantHold'];
  /** Whether deployments wait here, or an ongoing freeze holds some. */
  hasDeployments: boolean;
  /** The branches that have merge groups. */
  groupBranches: string[];
  from: LoadFrom;
};

/** The repository, and the instant of an observation. */
const seen = `
  SELECT r.id, r.xmin AS row_version, r.account_id, r.name, r.products::text[] AS products, r.archived, r.first_status_at,
    a.login, a.type, r.stacks, ${settingSql('instantHold')} AS instant_hold, i.id AS installation_id, i.permissions, coalesce(i.suspended_at, i.deleted_at) AS switched_off_at,
    greatest(i.paused_until, i.reads_paused_until) AS paused_until,
    greatest($2::timestamptz, $3::timestamptz, ${believed('r.reconciled_at', '$2')}) AS observed_at
  FROM repositories r JOIN accounts a ON a.id = r.account_id LEFT JOIN installations i ON i.id = r.installation_id
  WHERE r.id = $1`;

// Takes a number only if nobody changed the repository's row since we read the freezes. A change of a freeze changes the
// row, and so does a number that somebody else took, so that a later number never knows less.
const numbered = `
  WITH seen AS (${seen}), numbered AS (
    UPDATE repositories SET observations = repositories.observations + 1 FROM seen
    WHERE repositories.id = seen.id AND repositories.xmin = seen.row_version
    RETURNING repositories.observations
  ), ongoing AS (
    SELECT ${freezeJson('f')} AS freeze, f.starts_at, f.created_at, f.id AS freeze_id,
      f.plan_id IS NULL OR EXISTS (SELECT FROM freeze_plans plan WHERE plan.id = f.plan_id
        AND cardinality(plan.include) <= ${mostNamedInFew} AND array_to_string(plan.include, '') !~ '[][*?{}\\\\]') AS is_of_few
    FROM seen JOIN freezes f ON f.repository_id = seen.id AND ${isNotEnded('seen.observed_at', 'f.')}
      AND f.starts_at <= seen.observed_at
  ), exempt AS (
    SELECT ${exemptionColumns('e')}, ${isIdle('e', 'seen.observed_at')} AS is_idle
    FROM seen JOIN exemptions e ON e.repository_id = seen.id AND e.environment IS NULL
      AND (e.ended_at IS NULL OR e.approved_at IS NOT NULL AND e.ended_at > seen.observed_at - ${lately})
  ), hiding AS (
    SELECT array_agg(f.id::text) AS ids FROM seen JOIN freezes f ON f.repository_id = seen.id
      AND f.public_reason IS NOT NULL AND ${isNotEnded('seen.observed_at', 'f.')}
  )
  SELECT seen.*, EXISTS (SELECT FROM deployments d WHERE d.repository_id = seen.id AND d.state = 'waiting') AS has_waiting,
    ARRAY(SELECT DISTINCT branch FROM merge_groups g WHERE g.repository_id = seen.id ORDER BY branch) AS group_branches,
    (SELECT observations FROM numbered) AS observation, (SELECT ids FROM hiding) AS hiding, ongoing.*,
    exempt.*
  FROM seen LEFT JOIN (ongoing FULL JOIN exempt ON false) ON true
  ORDER BY ongoing.starts_at, ongoing.created_at, ongoing.freeze_id`;

type SeenRow = SqlRow & {
  id: bigint;
  account_id: bigint;
  name: string;
  products: Repository['products'];
  archived: boolean;
  first_status_at: Date | null;
  stacks: Stack[];
  login: string;
  type: string;
  installation_id: bigint | null;
  permissions: Installation['permissions'];
  switched_off_at: Date | null;
  paused_until: Date | null;
  observed_at: Date;
  instant_hold: SettingValues['instantHold'] | null;
};

type NumberedRow = SeenRow & {
  observation: bigint | null;
  hiding: string[] | null;
  has_waiting: boolean;
  group_branches: string[];
  is_idle: boolean | null;
  freeze: FreezeJson | null;
  freeze_id: string | null;
  is_of_few: boolean | null;
} & ExemptionRow;

/**
 * A repository that we may ask GitHub about, and the instant of the observation.
 * @throws NotNow if nothing can be read now.
 */
export async function findObservable(
  deps: Pick<StatusDeps, 'sql' | 'clock'>,
  repositoryId: bigint,
): Promise<ObservedRepository> {
  const [row] = await deps.sql.query<SeenRow>('find-observable', seen, [
    repositoryId,
    nowOf(deps.clock),
    null,
  ]);
  if (!row || isClosedToUs(row)) throw new NotNow(null);
  return observable(row);
}

/**
 * Prepares the observation of a repository.
 * @param notBefore the boundary that woke us. The database's clock decides when that is, and may be ahead of ours: at
 *   its boundary a freeze has begun, even if our clock is behind. We also never go back behind the instant of a replica
 *   whose clock is a little ahead.
 * @param through the installation of the event. We read an unknown repository through it first.
 * @throws NotNow if nothing can be read now, or there is nothing to find.
 */
export async function openObservation(
  deps: StatusDeps,
  repositoryId: bigint,
  { notBefore = null, through = null }: { notBefore?: Date | null; through?: string | null } = {},
): Promise<Observed> {
  const clockThen = readingOf(deps.clock);
  const now = new Date(clockThen.now);
  const values = [repositoryId, now, presentOf(now, notBefore)];
  const rows = await deps.sql.query<NumberedRow>('open-observation', numbered, values);
  const [row] = rows;
  if (!row?.installation_id && through) {
    await deps.queue.send([jobs.syncRepository(repositoryId, BigInt(through))]);
    throw new NotNow(null);
  }
  const isOn = row !== undefined && freezesAreOn(row.products);
  // If freezes are off and we never wrote a status, there is nothing to release.
  if (!row || isClosedToUs(row) || !(isOn || row.first_status_at)) {
    await forgetAllGroups(deps.sql, repositoryId);
    throw new NotNow(null);
  }
  const repository = observable(row);
  if (row.observation === null) return openObservation(deps, repositoryId, { notBefore, through });
  const ongoing = isOn ? ongoingIn(rows) : [];
  const freezes = await parseStoredFreezes(ongoing.filter(holdsMerges));
  const exemptions = rows.flatMap((each) => exemptionIn(each) ?? []);
  const { id, permissions } = repository.installation;
  const client = await observe(deps, repository, () => deps.github.asInstallation(id, permissions));
  return {
    repository,
    observation: row.observation,
    observedAt: row.observed_at,
    clockThen,
    freezes,
    ofFew: new Set(rows.flatMap((each) => (each.is_of_few ? each.freeze_id! : []))),
    exemptions,
    hiding: row.hiding ?? [],
    instantHold: row.instant_hold ?? 'off',
    hasIdleExemptions: rows.some((each) => each.is_idle === true),
    groupBranches: row.group_branches,
    hasDeployments: row.has_waiting || ongoing.some((freeze) => holdsDeployments(freeze)),
    from: {
      deps,
      client,
      repository,
      needs: withCheckCounts(needsOf(freezes), exemptions),
      stacks: row.stacks,
      isDecided: (facts) => isDecided(freezes, facts, row.observed_at.getTime()),
    },
  };
}

/** Who decides on a request wants to know how the checks are. */
const withCheckCounts = (needs: FactNeeds, exemptions: Exemption[]): FactNeeds =>
  exemptions.some(({ state }) => state === 'requested')
    ? { ...needs, facts: new Set([...needs.facts, 'check-counts']) }
    : needs;

const isClosedToUs = (row: SeenRow): boolean =>
  row.installation_id === null || row.switched_off_at !== null || row.archived;

/** Milliseconds. It may have another name: soon, so that it is held, and not at once, in case GitHub's answers differ. */
const renameStep = 2_000;

/** When to ask whether GitHub still shows us a repository, and under which name. */
const lookAt = (error: unknown, now: number): Date =>
  error instanceof NotOurRepository ? inSteps(new Date(now), renameStep) : new Date(now + checkAccessAfter);

/** @throws NotNow while GitHub limits the installation. */
function observable(row: SeenRow): ObservedRepository {
  if (row.paused_until && row.paused_until > row.observed_at) throw new NotNow(row.paused_until);
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    products: row.products,
    account: { login: row.login, type: row.type },
    installation: { id: row.installation_id!, permissions: row.permissions },
  };
}

const ongoingIn = (rows: NumberedRow[]): StoredFreeze[] =>
  rows.flatMap(({ id, freeze }) => (freeze === null ? [] : [fromJson(freeze, id)]));

/**
 * Reads GitHub. Remembers a rate limit for the installation. If GitHub refuses us, checks whether we still have access.
 * Throws other errors, so that the job queue tries again.
 * @throws NotNow while GitHub limits us, or if it refuses us.
 */
export async function observe<Result>(
  deps: StatusDeps,
  repository: ObservedRepository,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const now = deps.clock.now();
    const failure = classifyGitHubError(error, now);
    switch (failure.kind) {
      case 'limited':
        await pauseInstallation(deps, repository.installation.id, failure);
        throw new NotNow(new Date(failure.retryAt));
      case 'absent':
      case 'forbidden':
        deps.log.warn(
          { err: error, repository: fullName(repository) },
          'GitHub does not let us read a repository',
        );
        await deps.queue.send([
          jobs.syncRepository(repository.id, repository.installation.id, lookAt(error, now)),
        ]);
        throw new NotNow(null);
      default:
        throw error;
    }
  }
}

/** What an observation read of the open pull requests. */
export type PullRequestReading = {
  /** Includes those of events that are closed by now. */
  pullRequests: LoadedPullRequest[];
  /** The pull requests of events; null if every open one was read. */
  events: PullRequestEvent[] | null;
  /** The numbers that were read because they share a SHA with one of the others. */
  sharers?: ReadonlySet<number>;
  isPrivate?: boolean;
  /** The stacks, if they were read again. */
  stacks?: Stack[];
};
