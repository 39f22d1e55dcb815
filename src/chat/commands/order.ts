import { assertStanding } from '../../auth/authorize.ts';
import type { Caller } from '../../auth/caller.ts';
import type { RepositoryPermission } from '../../auth/permissions.ts';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { isTooManyRequests, isUnavailable, Refusal } from '../../errors.ts';
import type { Actor } from '../../events/actor.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import type { Role } from '../../settings/role-holders.ts';
import { NotNow } from '../../database/queue/define-task.ts';
import { DoubtfulTime } from '../../time/moment.ts';
import { type Holding, whatIsBlocked } from '../../words/describe-fields.ts';
import { asCode } from '../../github/markdown.ts';

/** What somebody ordered, in a comment or in Slack. */
export type Order = {
  deps: Deps;
  /** Who, for the audit log. */
  actor: Actor;
  /** The text after the command and its target, or what they typed in a window. */
  words: string;
  /**
   * Saves the answer in the transaction of the change. @param requested the exemption request that the answer announces.
   * @throws AnsweredMeanwhile.
   */
  saveAnswer(tx: Tx, answer: string, requested?: string): Promise<void>;
  /** Notes in a transaction what it ends. @throws AnsweredMeanwhile. */
  noteDone(tx: Tx, what: string): Promise<void>;
};

/** A command in a comment, with what GitHub says its author may do. */
export type CommentOrder = Order & {
  commentId: bigint;
  repository: FoundRepository;
  /** The pull request that the comment is on. */
  number: number;
  caller: Extract<Caller, { kind: 'comment' }>;
  permission: Exclude<RepositoryPermission, 'none'>;
  /** When it was written, by GitHub's clock, in whole seconds. */
  writtenAt: Date;
};

/** Thrown if another process answered the same command, or Slack request, meanwhile: never make the change again. */
export class AnsweredMeanwhile extends Error {}

/** Runs one kind of command. @returns the answer; nothing if it was saved with a change. */
export type RunCommand = (order: CommentOrder) => Promise<string | undefined>;

/** Why the author is not an admin of the repository; null for admins. @throws Refusal forbidden if they cannot write. */
export async function assertWriter(order: CommentOrder): Promise<Refusal | null> {
  const { deps, caller, permission, repository } = order;
  const standing = { permission, tokenCan: true };
  return (await assertStanding(deps, caller, standing, repository, { least: 'write' })).notAdmin;
}

/** Requires an admin of the repository, or somebody with a role there. @throws Refusal forbidden. */
export const assertRole = (
  { deps, caller, permission, repository }: CommentOrder,
  role: Role,
): Promise<unknown> => assertStanding(deps, caller, { permission, tokenCan: true }, repository, { role });

/** The zone for times without a zone: that of the newest freeze of the repository, else UTC. */
export async function zoneOfRepository(tx: Tx, repositoryId: bigint): Promise<string> {
  const last = await tx.freeze.findFirst({
    where: { repositoryId },
    orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    select: { timezone: true },
  });
  return last?.timezone ?? 'UTC';
}

/** The maximum length of our sentences, which may quote people. */
const longestSentence = 1000;

/** A sentence from a use case, in a comment. It may quote what people wrote: in code spans, it links and notifies nobody. */
export const sentenceInComment = (text: string): string => asCode(text, longestSentence);

/** How a reply is written, in a comment or in Slack. @property said a text that a person wrote. */
export type Writing = { strong(text: string): string; said(text: string): string; bullet: string };

export const inMarkdown: Writing = {
  strong: (text) => `**${text}**`,
  said: (text) => asCode(text),
  bullet: '-',
};

/** In brackets, what a freeze blocks; empty for merges alone. */
export function alsoBlocked(freeze: Holding, { said }: Writing = inMarkdown): string {
  const blocked = whatIsBlocked(freeze, said);
  return blocked === null ? '' : ` (${blocked.slice(0, 1).toLowerCase()}${blocked.slice(1, -1)})`;
}

/** Has a command wait until GitHub may answer. */
export const whenAnswered = ({ clock }: Pick<Deps, 'clock'>, { retryAfter = 10 }: Refusal): NotNow =>
  new NotNow(new Date(clock.now() + retryAfter * 1000));

/** Why a command is refused. @throws NotNow while GitHub does not answer: it waits. Every other error as it is. */
export function whyOrderRefused(deps: Deps, error: unknown): string {
  if (isUnavailable(error) || isTooManyRequests(error)) throw whenAnswered(deps, error);
  if (error instanceof DoubtfulTime || error instanceof Refusal) return error.message;
  throw error;
}
