import { assertStanding } from '../../auth/authorize.ts';
import type { Caller } from '../../auth/caller.ts';
import type { RepositoryPermission } from '../../auth/permissions.ts';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { isTooManyRequests, isUnavailable, Refusal } from '../../errors.ts';
import type { Actor } from '../../events/actor.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import type { Role } from '../../installations/role-holders.ts';
import { NotNow } from '../../database/queue/define-task.ts';
import { DoubtfulTime } from '../../time/moment.ts';

/** A command, with what GitHub says its author may do. */
export type Order = {
  deps: Deps;
  commentId: bigint;
  repository: FoundRepository;
  /** The pull request that the comment is on. */
  number: number;
  caller: Extract<Caller, { kind: 'comment' }>;
  /** The author, for the audit log. */
  actor: Actor;
  permission: Exclude<RepositoryPermission, 'none'>;
  /** The text after the command. */
  words: string;
  /** When it was written, by GitHub's clock, in whole seconds. */
  writtenAt: Date;
  /** Saves the answer in the transaction of the change. @param requested the exemption request that the answer announces. */
  saveAnswer(tx: Tx, answer: string, requested?: string): Promise<void>;
};

/** Runs one kind of command. @returns the answer; nothing if it was saved with a change. */
export type RunCommand = (order: Order) => Promise<string | undefined>;

/** Why the author is not an admin of the repository; null for admins. @throws Refusal forbidden if they cannot write. */
export const assertWriter = ({ deps, caller, permission, repository }: Order): Promise<Refusal | null> =>
  assertStanding(deps, caller, { permission, tokenCan: true }, repository, { least: 'write' });

/** Requires an admin of the repository, or somebody with a role there. @throws Refusal forbidden. */
export const assertRole = ({ deps, caller, permission, repository }: Order, role: Role): Promise<unknown> =>
  assertStanding(deps, caller, { permission, tokenCan: true }, repository, { role });

/** The zone for times without a zone: that of the newest freeze of the repository, else UTC. */
export async function zoneOfRepository(tx: Tx, repositoryId: bigint): Promise<string> {
  const last = await tx.freeze.findFirst({
    where: { repositoryId },
    orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    select: { timezone: true },
  });
  return last?.timezone ?? 'UTC';
}

/** Why a command is refused. @throws NotNow while GitHub does not answer: it waits. Every other error as it is. */
export function whyRefused(deps: Deps, error: unknown): string {
  if (isUnavailable(error) || isTooManyRequests(error))
    throw new NotNow(new Date(deps.clock.now() + (error.retryAfter ?? 10) * 1000));
  if (error instanceof DoubtfulTime || error instanceof Refusal) return error.message;
  throw error;
}
