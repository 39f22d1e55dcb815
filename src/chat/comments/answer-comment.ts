// A command in a comment runs once and gets one answer, even if processes die in between:
//  1. `takeComment` counts the command for its author, before we ask GitHub, so that too many commands cost nothing. Beyond
//     the limit, we ask whether the author may decide what the command decides, and remember a no.
//  2. We ask GitHub what the author may do, as pages do. What the event says about the author does not count.
//  3. The command calls a use case of the API. It saves the answer in the transaction of its change, so that a second
//     try finds the answer and changes nothing.
//  4. A job of its own writes the answer (`write-comment.ts`).
import { nowOf } from '../../time/clock.ts';
import { actorOf } from '../../auth/caller.ts';
import { askPermission, type RepositoryPermission } from '../../auth/permissions.ts';
import { hasRole } from '../../auth/role-verdict.ts';
import type { Deps } from '../../deps.ts';
import { Refusal } from '../../errors.ts';
import { answersPerService } from '../../github/cache.ts';
import { classifyGitHubError } from '../../github/github-error.ts';
import { pauseInstallation } from '../../github/ask-github.ts';
import { type FoundRepository, fullName, repositoriesOfIds } from '../../installations/find-repository.ts';
import { type Role, roles } from '../../settings/role-holders.ts';
import { readSettings } from '../../settings/settings.ts';
import { repositoryPath } from '../../page-paths.ts';
import { defineTask, NotNow } from '../../database/queue/define-task.ts';
import { jobs, type ToldOfComment } from '../../database/queue/jobs.ts';
import { readCommand, unknownCommand, type Verb } from '../commands/command.ts';
import { approve, deny, exempt } from '../commands/exemptions.ts';
import { freeze } from '../commands/freeze.ts';
import { unfreeze } from '../commands/ongoing.ts';
import {
  AnsweredMeanwhile,
  type CommentOrder,
  type RunCommand,
  sentenceInComment,
  whenAnswered,
  whyOrderRefused,
} from '../commands/order.ts';
import { statusOfPullRequest } from '../commands/show-status.ts';
import {
  hasAnswerLeft,
  mostAnswers,
  readTaken,
  saveOnce,
  type TakenComment,
  takeComment,
} from './answer-store.ts';
import { mayComment, pausedUntil } from './write-comment.ts';

/** The implementation of each command. */
const commands: Record<Verb, RunCommand> = {
  status: statusOfPullRequest,
  exempt: exempt.comment,
  approve: approve.comment,
  deny: deny.comment,
  freeze: freeze.comment,
  unfreeze: unfreeze.comment,
};

/**
 * Runs the command of a comment and has it answered.
 * @throws NotNow, or GitHub's error while it cannot be asked. The worker tries again.
 */
export async function answerComment(deps: Deps, repositoryId: bigint, comment: ToldOfComment): Promise<void> {
  const repository = await findOpen(deps, repositoryId, comment);
  if (!repository) return;
  const { number, person } = comment;
  const about = { repository: fullName(repository), pullRequest: number, comment: comment.commentId };
  if (!mayComment(repository)) {
    deps.log.warn(about, 'ignored a command in a comment: the App may not answer here');
    return;
  }
  const ids = { commentId: BigInt(comment.commentId), repositoryId, number, personId: BigInt(person.id) };
  const take = (isDecided: boolean) =>
    deps.db.$transaction((tx) => takeComment(tx, ids, nowOf(deps.clock), isDecided));
  const taken =
    (await take(false)) ?? ((await mayDecideNow(deps, repository, comment)) && (await take(true)));
  if (!taken) {
    deps.log.warn(
      { ...about, by: person.login },
      'too many commands from one person in an hour; not answered',
    );
    return;
  }
  if (taken.isSettled) return;
  const answer = taken.answer ?? (await obey(deps, repository, comment, taken));
  if (answer === null) return;
  const { commentId, at: since } = comment;
  await deps.queue.send([jobs.writeComment(repositoryId, { commentId, number, since })]);
}

/** The repository, if it accepts commands and GitHub answers now. @throws NotNow while GitHub limits us. */
async function findOpen(
  deps: Deps,
  repositoryId: bigint,
  comment: ToldOfComment,
): Promise<FoundRepository | null> {
  const { installationId } = comment;
  const [repository] = await repositoriesOfIds(deps.sql, [repositoryId]);
  if (!repository) {
    if (installationId === null || isLate(deps, comment)) return null;
    await deps.queue.send([jobs.syncRepository(repositoryId, BigInt(installationId))]);
    throw new NotNow(new Date(deps.clock.now() + untilKnown));
  }
  const { suspendedAt } = repository.installation;
  if (suspendedAt || !(await readSettings(deps.db, repositoryId)).commentCommands) return null;
  const pause = await pausedUntil(deps, repository);
  if (pause) throw new NotNow(pause);
  return repository;
}

/** Milliseconds that reading a new repository takes. */
const untilKnown = 2_000;

/** After this many milliseconds, the author may no longer want the command. */
const longestCommandDelay = 10 * 60_000;

const isLate = ({ clock }: Deps, { at }: ToldOfComment): boolean =>
  clock.now() - Date.parse(at) > longestCommandDelay;

/** A command that is taken, in a repository that accepts it. */
type Commanded = {
  deps: Deps;
  repository: FoundRepository;
  comment: ToldOfComment;
  taken: TakenComment;
  command: ReturnType<typeof readCommand>;
};

/** @returns the saved answer; null if the author gets none. */
async function obey(
  deps: Deps,
  repository: FoundRepository,
  comment: ToldOfComment,
  taken: TakenComment,
): Promise<string | null> {
  const commanded = { deps, repository, comment, taken, command: readCommand(comment.text) };
  const permission = await permissionOf(deps, comment.person, repository);
  if (permission === 'none' || !(await getsAnswer(commanded, permission))) return null;
  const order = commentOrderOf(commanded, permission);
  try {
    const text = await answerTo(commanded, order);
    if (text) await order.saveAnswer(deps.db, text);
  } catch (error) {
    if (!(error instanceof AnsweredMeanwhile)) throw error;
  }
  return (await readTaken(deps.db, taken.commentId)).answer;
}

/** Whether the author gets an answer: who may decide always does; others within an hour's limit, outsiders only the status. */
async function getsAnswer(
  { deps, repository, comment: { person }, taken, command: { verb } }: Commanded,
  permission: CommentOrder['permission'],
): Promise<boolean> {
  if (await decides(deps, person, repository, permission, verb)) return true;
  const isOutsider = permission === 'read';
  if (isOutsider && verb !== 'status') return false;
  if (await hasAnswerLeft(deps.db, taken, isOutsider, nowOf(deps.clock))) return true;
  deps.log.warn(
    { repository: fullName(repository), pullRequest: taken.number, by: person.login },
    'too many comments in an hour; a command is not answered',
  );
  return false;
}

function commentOrderOf(
  { deps, repository, comment, taken: { commentId, number, isLast }, command: { words } }: Commanded,
  permission: CommentOrder['permission'],
): CommentOrder {
  const caller = { kind: 'comment', person: comment.person } as const;
  const suffix = isLast ? `\n\n${lastOfHour}` : '';
  return {
    ...{ deps, commentId, repository, number, permission, words, caller },
    actor: actorOf(deps, caller),
    writtenAt: new Date(comment.at),
    saveAnswer: (tx, text, announces) => saveOnce(tx, commentId, { answer: text + suffix, announces }),
    noteDone: (tx, what) => saveOnce(tx, commentId, { done: { push: what } }),
  };
}

/** @returns the answer; nothing if it was saved with a change. */
async function answerTo(
  { deps, repository, comment, taken, command: { verb } }: Commanded,
  order: CommentOrder,
): Promise<string | undefined> {
  if (verb === null) return unknownCommand(comment.text);
  // A command that started in time is finished.
  if (verb !== 'status' && taken.done.length === 0 && isLate(deps, comment)) return lateText;
  const { commentCommands } = await readSettings(deps.db, repository.id);
  if (commentCommands === 'requests' && decisions[verb]) return pageOnly(order);
  return commands[verb](order).catch(
    (error: unknown) => `**Nothing was changed.** ${sentenceInComment(whyOrderRefused(deps, error))}`,
  );
}

/**
 * What only admins may and people with a role: answered however much else is, and only on pages where comments just
 * request.
 */
const decisions: Partial<Record<Verb, Role>> = {
  approve: 'approver',
  deny: 'approver',
  freeze: 'freezer',
  unfreeze: 'freezer',
};

/**
 * Whether the author may decide what the command decides. An admin's `exempt` lets a pull request through at once.
 * @throws NotNow while GitHub does not say whether they have the role: the command waits.
 */
async function decides(
  deps: Deps,
  person: ToldOfComment['person'],
  repository: FoundRepository,
  permission: RepositoryPermission,
  verb: Verb | null,
): Promise<boolean> {
  if (verb === null || permission === 'none') return false;
  const role = decisions[verb];
  if (permission === 'admin') return role !== undefined || verb === 'exempt';
  if (role === undefined) return false;
  const { [roles[role]]: holders } = await readSettings(deps.db, repository.id);
  const verdict = await hasRole(deps, person, repository, holders, { isLive: true, releases: true });
  if (verdict instanceof Refusal) throw whenAnswered(deps, verdict);
  return verdict === 'yes';
}

/** Milliseconds to remember that an author may not decide: this many commands would cost as much as the first ten. */
const refusedFor = 5 * 60_000;
const deciding = answersPerService<boolean>(10_000, (may) => (may ? 0 : refusedFor));

/** Whether the author of one command too many may decide what it decides. */
async function mayDecideNow(
  deps: Deps,
  repository: FoundRepository,
  { person, text }: ToldOfComment,
): Promise<boolean> {
  const { verb } = readCommand(text);
  if (verb === null || (decisions[verb] === undefined && verb !== 'exempt')) return false;
  return deciding(deps).get(`${repository.id} ${person.id} ${verb}`, async () =>
    decides(deps, person, repository, await permissionOf(deps, person, repository), verb),
  );
}

function pageOnly({ deps, repository }: CommentOrder): string {
  const page = deps.config.publicUrl + repositoryPath(repository);
  return `**Nothing was changed.** In this repository, comments can only ask for the status and request exemptions. Use [the page of the repository](${page}) or the page of this pull request.`;
}

const lateText =
  '**Nothing was changed.** Holdfast read this command more than 10 minutes after you wrote it. If you still want it, write it again.';

const lastOfHour = `Holdfast answers ${mostAnswers} commands from one person within an hour. This was the last one. Until an hour after the first one, it only carries out further commands that decide, of people who may decide: ${Object.keys(
  decisions,
)
  .map((verb) => `\`${verb}\``)
  .join(', ')}, and an admin's \`exempt\`.`;

/** Asks GitHub what the author may do. */
async function permissionOf(
  deps: Deps,
  person: ToldOfComment['person'],
  repository: FoundRepository,
): Promise<RepositoryPermission> {
  try {
    return await askPermission(deps, person, repository);
  } catch (error) {
    const failure = classifyGitHubError(error, deps.clock.now());
    if (failure.kind !== 'limited') throw error;
    await pauseInstallation(deps, repository.installation.id, failure);
    throw new NotNow(new Date(failure.retryAt));
  }
}

export const answerCommentTask = defineTask(jobs.answerComment, (deps: Deps, { repositoryId, ...comment }) =>
  answerComment(deps, BigInt(repositoryId), comment),
);
