import { assertStanding } from '../../auth/authorize.ts';
import { actorOf as actorOfCaller } from '../../auth/caller.ts';
import type { Person } from '../../auth/github-token.ts';
import type { RepositoryPermission } from '../../auth/permissions.ts';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import type { Refusal } from '../../errors.ts';
import type { Actor } from '../../events/actor.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';

/** A command, with what GitHub says its author may do. */
export type Order = {
  deps: Deps;
  commentId: bigint;
  repository: FoundRepository;
  /** The pull request that the comment is on. */
  number: number;
  person: Person;
  permission: Exclude<RepositoryPermission, 'none'>;
  /** The text after the command. */
  words: string;
  /** When it was written, by GitHub's clock, in whole seconds. */
  writtenAt: Date;
  /** Saves the answer in the transaction of the change. @param requested the exemption request that the answer announces. */
  keep(tx: Tx, answer: string, requested?: string): Promise<void>;
};

/** Runs one kind of command. @returns the answer, which is already saved if something changed. */
export type CarryOut = (order: Order) => Promise<string>;

const callerOf = ({ person }: Order) => ({ kind: 'comment', person }) as const;

/** The actor for the audit log. */
export const actorOf = (order: Order): Actor => actorOfCaller(order.deps, callerOf(order));

/** Why the author is not an admin of the repository; null for admins. @throws Refusal forbidden if they cannot write. */
export const assertWriter = (order: Order): Refusal | null =>
  assertStanding(
    order.deps,
    callerOf(order),
    { permission: order.permission, tokenCan: true },
    order.repository,
    'write',
  );

/** Requires an admin of the repository. @throws Refusal forbidden. */
export function assertAdmin(order: Order): void {
  const refusal = assertWriter(order);
  if (refusal) throw refusal;
}
