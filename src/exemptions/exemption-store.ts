import type { Tx } from '../database/database.ts';
import { type Actor, actorIn } from '../events/actor.ts';
import type { Exemption as Stored, Prisma } from '../generated/prisma/client.ts';
import { besideOf, type NewestPage, newestPageOf, rowsBeside } from '../database/newest-first.ts';
import type { SqlRow } from '../database/sql.ts';
import { isNotEnded } from '../freezes/freeze-store.ts';
import { readSettingsOfAll } from '../settings/settings.ts';
import type { EndedBy, ExemptDeployment, Exemption } from './exemption.ts';

// Finds exemptions. An observation reads them together with freezes, in one statement.

/** SQL for how long we still read an ended exemption, so that its pull request is held first. */
export const lately = `interval '1 hour'`;

/** SQL for whether an exemption has freezes and all are over. @param of its table. @param now the parameter with the instant. */
export const isIdle = (of: string, now: string): string => `
  ${of}.ended_at IS NULL AND ${of}.freeze_ids <> '{}' AND NOT EXISTS (
    SELECT FROM freezes f WHERE f.id = ANY(${of}.freeze_ids) AND ${isNotEnded(now, 'f.')})`;

/** The columns of an exemption, by its fields. */
const columnsOfExemption: Record<keyof Exemption, string> = {
  id: 'id',
  pullRequest: 'number',
  headSha: 'head_sha',
  headSeenAt: 'head_seen_at',
  baseRef: 'base_ref',
  anyHead: 'any_head',
  freezeIds: 'freeze_ids',
  reason: 'reason',
  publicReason: 'public_reason',
  state: 'state::text',
  requestedAt: 'requested_at',
  approvedAt: 'approved_at',
  expiresAt: 'expires_at',
  endedAt: 'ended_at',
};
const exemptionFields = Object.keys(columnsOfExemption) as (keyof Exemption)[];

/** The columns of an `ExemptionRow`. @param table the name of the table in the statement. */
export const exemptionColumns = (table: string): string =>
  exemptionFields.map((field) => `${table}.${columnsOfExemption[field]} AS "exempt_${field}"`).join(', ');

/** An exemption among other columns. All are null if the row has none. */
export type ExemptionRow = SqlRow & Record<`exempt_${keyof Exemption}`, unknown>;

/** The exemption of a row; null if it has none. */
export function exemptionIn(row: ExemptionRow): Exemption | null {
  if (row.exempt_id === null) return null;
  const exemption = Object.fromEntries(exemptionFields.map((field) => [field, row[`exempt_${field}`]]));
  return { ...(exemption as Exemption), freezeIds: coveredBy(row.exempt_freezeIds as string[]) };
}

/** The column has no nulls, so an empty list means every freeze. */
const coveredBy = (ids: string[]): string[] | null => (ids.length === 0 ? null : ids);

/** An exemption with who requested it and who decided last. */
export type ExemptionRecord = Exemption & {
  repositoryId: bigint;
  /** Null for a pull request. With a deployment, `pullRequest` is 0. */
  deployment: ExemptDeployment | null;
  requestedBy: Actor;
  decidedBy: Actor | null;
  decidedAt: Date | null;
  decisionReason: string | null;
  /** What ended it, if no person did. */
  endedBy: EndedBy | null;
  usedAt: Date | null;
  /** When the conversation was told of the request, by GitHub's clock. */
  announcedAt: Date | null;
};

const recordOf = ({ number, freezeIds, environment, runId, attempt, ...row }: Stored): ExemptionRecord => ({
  ...row,
  pullRequest: number,
  deployment: environment === null ? null : { environment, sha: row.headSha || null, runId, attempt },
  freezeIds: coveredBy(freezeIds),
  requestedBy: actorIn(row.requestedBy),
  decidedBy: row.decidedBy === null ? null : actorIn(row.decidedBy),
  endedBy: row.endedBy as EndedBy | null,
});

/** The exemption with this id; null if the repository has none. */
export async function findExemption(
  tx: Tx,
  repositoryId: bigint,
  id: string,
): Promise<ExemptionRecord | null> {
  const row = await tx.exemption.findFirst({ where: { id, repositoryId } });
  return row && recordOf(row);
}

/** The requested and approved exemptions of a repository. @param only limits them to these pull requests. */
export async function openExemptions(
  tx: Tx,
  repositoryId: bigint,
  only?: number[],
): Promise<ExemptionRecord[]> {
  const where = { repositoryId, endedAt: null, ...(only && { number: { in: only } }) };
  return (await tx.exemption.findMany({ where, orderBy: { serial: 'asc' } })).map(recordOf);
}

/** The exemptions of deployments in a repository that let some through, or did. Those that a run goes out with first. */
export async function lettingDeployments(
  tx: Tx,
  repositoryId: bigint,
  now: Date,
): Promise<ExemptionRecord[]> {
  const isOn = { state: { in: ['approved' as const, 'used' as const] }, expiresAt: { gt: now } };
  const rows = await tx.exemption.findMany({
    where: { repositoryId, environment: { not: null }, ...isOn },
    orderBy: [{ attempt: { sort: 'asc', nulls: 'last' } }, { serial: 'asc' }],
  });
  return rows.map(recordOf);
}

/** The open exemption that an attempt of a run goes out with; null if there is none. */
export async function takenBy(
  tx: Tx,
  repositoryId: bigint,
  { runId, attempt, environment }: { runId: bigint; attempt: number; environment: string },
): Promise<ExemptionRecord | null> {
  const rows = await tx.exemption.findMany({ where: { repositoryId, runId, attempt, endedAt: null } });
  // GitHub ignores the case of names of environments.
  const key = environment.toLowerCase();
  const row = rows.find((each) => each.environment?.toLowerCase() === key);
  return row ? recordOf(row) : null;
}

/** The requests in some repositories that wait for a person's decision, oldest first. @param person their GitHub id. */
export async function waitingRequests(
  tx: Tx,
  repositoryIds: bigint[],
  person: number,
  now: Date,
  most: number,
): Promise<ExemptionRecord[]> {
  const where = { repositoryId: { in: repositoryIds }, endedAt: null, expiresAt: { gt: now } };
  const isTheirs = [
    { requestedBy: { path: ['type'], equals: 'user' } },
    { requestedBy: { path: ['id'], equals: person } },
  ];
  const settings = await readSettingsOfAll(tx, repositoryIds);
  const forTwo = repositoryIds.filter((id) => settings.get(id)?.twoPersonExemptions);
  const rows = await tx.exemption.findMany({
    // If two people are required, the person who requested it cannot decide.
    where: { ...where, state: 'requested', NOT: { repositoryId: { in: forTwo }, AND: isTheirs } },
    orderBy: { serial: 'asc' },
    take: most,
  });
  return rows.map(recordOf);
}

/** The exemptions of a pull request that were not over at an instant, newest request first. */
export async function exemptionsSince(
  tx: Tx,
  repositoryId: bigint,
  number: number,
  since: Date,
): Promise<ExemptionRecord[]> {
  const rows = await tx.exemption.findMany({
    where: { repositoryId, number, OR: [{ endedAt: null }, { endedAt: { gte: since } }] },
    orderBy: { serial: 'desc' },
  });
  return rows.map(recordOf);
}

export type ExemptionKind = 'pull request' | 'deployment';

/** Which exemptions to list: of a repository, of all of an owner, or of some. */
export type ExemptionPlace = { repositoryId: bigint } | { accountId: bigint } | { repositories: bigint[] };
type ExemptionFilter = {
  /** Only those of pull requests, or of deployments. */
  of?: ExemptionKind;
  state?: Exemption['state'];
  pullRequest?: number;
  /** Only those that are over at an instant, or only those that are not. */
  isOver?: { at: Date; is: boolean };
};

/**
 * A page of exemptions, newest first.
 * @param cursor opaque, from an earlier page's `older` or `newer`.
 * @throws Refusal invalid if the cursor is not ours.
 */
export async function listExemptions(
  tx: Tx,
  place: ExemptionPlace,
  { of, state, pullRequest, isOver }: ExemptionFilter,
  { size, cursor }: { size: number; cursor?: string },
): Promise<NewestPage<ExemptionRecord>> {
  const beside = besideOf(cursor, 'exemption');
  const asked = rowsBeside(beside, size);
  const found = await tx.exemption.findMany({
    where: {
      ...{ ...whereOf(place), ...overAt(isOver), state, number: pullRequest, serial: asked.number },
      ...(of && { environment: of === 'deployment' ? { not: null } : null }),
    },
    orderBy: { serial: asked.order },
    take: asked.take,
  });
  const { rows, ...cursors } = newestPageOf(found, size, beside, ({ serial }) => serial);
  return { rows: rows.map(recordOf), ...cursors };
}

function whereOf(place: ExemptionPlace): Prisma.ExemptionWhereInput {
  if ('repositoryId' in place) return { repositoryId: place.repositoryId };
  if ('repositories' in place) return { repositoryId: { in: place.repositories } };
  return { repository: { accountId: place.accountId, archived: false } };
}

/** An exemption that expired is over before anything ends it. */
function overAt(isOver: ExemptionFilter['isOver']): Prisma.ExemptionWhereInput {
  if (!isOver) return {};
  const { at, is } = isOver;
  return is
    ? { OR: [{ endedAt: { not: null } }, { expiresAt: { lte: at } }] }
    : { endedAt: null, expiresAt: { gt: at } };
}

/** What answers of the API and events of the audit log say of each exemption, whatever it is for. */
export const attributesOfAny = (exemption: ExemptionRecord) => ({
  reason: exemption.reason,
  public_reason: exemption.publicReason,
  state: exemption.state,
  requested_by: exemption.requestedBy,
  requested_at: exemption.requestedAt.toISOString(),
  decided_by: exemption.decidedBy,
  decided_at: exemption.decidedAt?.toISOString() ?? null,
  decision_reason: exemption.decisionReason,
  expires_at: exemption.expiresAt.toISOString(),
  used_at: exemption.usedAt?.toISOString() ?? null,
});
