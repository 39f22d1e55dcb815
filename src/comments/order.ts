import type { Person } from '../auth/github-token.ts';
import type { RepositoryPermission } from '../auth/repository-permission.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { forbidden, type Refusal } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';

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

/** The actor for the audit log. */
export const actorOf = ({ person }: Order): Actor => ({ type: 'user', id: person.id, name: person.login });

/** The refusal for a person who is not an admin of the repository; null for admins. */
export const notAdmin = ({ permission, person, repository }: Order): Refusal | null =>
  permission === 'admin'
    ? null
    : forbidden(`${person.login} is not an admin of ${fullName(repository)} on GitHub.`);

/** Requires an admin of the repository. @throws Refusal forbidden. */
export function assertAdmin(order: Order): void {
  const refusal = notAdmin(order);
  if (refusal) throw refusal;
}

/** Requires a person who can write to the repository. @throws Refusal forbidden. */
export function assertWriter({ permission, person, repository }: Order): void {
  if (permission === 'read')
    throw forbidden(
      `${person.login} cannot write to ${fullName(repository)} on GitHub. Ask somebody who can.`,
    );
}
