import { nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { type ExemptionRecord, findExemption } from '../../exemptions/exemption-store.ts';
import { type Grants, missingForComments } from '../../github/app-manifest.ts';
import { classifyGitHubError } from '../../github/github-error.ts';
import { type FoundRepository, fullName, repositoriesOfIds } from '../../installations/find-repository.ts';
import { pullRequestPath } from '../../page-paths.ts';
import { readSettings } from '../../settings/settings.ts';
import { actorName } from '../../events/actor.ts';
import { defineTask } from '../../database/queue/define-task.ts';
import { type OwnComment, jobs } from '../../database/queue/jobs.ts';
import type { Effect, Item, Outcome } from '../../outside/effect.ts';
import { defineLane } from '../../outside/work-lane.ts';
import { takePlace } from '../../statuses/lease.ts';
import { describeInstant } from '../../time/local-time.ts';
import { mayAnnounce, noteAnnounced, settleAnswer, takeAnswer } from './answer-store.ts';
import { asCode } from '../../github/markdown.ts';
import { howToDecide } from '../commands/exemptions.ts';
import { zoneOfRepository } from '../commands/order.ts';

/** Whether the installation granted the permissions that commands in comments need. */
export const mayComment = ({ installation }: FoundRepository): boolean =>
  missingForComments({ permissions: installation.permissions as Grants['permissions'] }).length === 0;

/** Until when GitHub limits the installation, or only its comments; null: it does not now. */
export async function pausedUntil(
  deps: Deps,
  { installation: { id } }: FoundRepository,
): Promise<Date | null> {
  const { pausedUntil, commentsPausedUntil } = await deps.db.installation.findUniqueOrThrow({
    where: { id },
  });
  return [pausedUntil, commentsPausedUntil].find((until) => until && until > nowOf(deps.clock)) ?? null;
}

/** Where a comment belongs, and the hidden mark by which we recognize it among those written `since`. */
type Place = { repository: FoundRepository; number: number; since: Date; mark: string };
type Due = Item & { text: string };
/** @property at when it was written, by GitHub's clock. */
type Written = Exclude<Outcome, { kind: 'done' }> | { kind: 'done'; at: Date };

/**
 * A comment of ours that is written once.
 * @param take counts an attempt; null: there is nothing to write.
 * @param settle saves when it was written; null if GitHub will never accept it.
 */
function commentIn(
  deps: Deps,
  place: Place,
  take: () => Promise<Due | null>,
  settle: (writtenAt: Date | null) => Promise<void>,
): Effect<Due, Written> {
  const { repository, number, mark } = place;
  const about = { repository: fullName(repository), pullRequest: number, mark };
  return {
    room: { first: 1, most: 1 },
    async take() {
      const pause = await pausedUntil(deps, repository);
      const item = pause ? null : await take();
      return { items: item ? [item] : [], then: pause };
    },
    async look() {
      const at = await findWritten(deps, place);
      return at && { kind: 'done', at };
    },
    async act({ text }) {
      const until = await takePlace(deps, repository.installation.id);
      if (until) return { kind: 'limited', until };
      const client = await clientOf(deps, repository);
      const page = deps.config.publicUrl + pullRequestPath(repository, number);
      const { data } = await client.rest.issues.createComment({
        ...addressOfAnswer(place),
        body: `${text}\n\n[View this pull request on Holdfast](${page})\n\n${mark}`,
      });
      deps.log.info(about, 'comment written');
      return { kind: 'done', at: new Date(data.created_at) };
    },
    async failureOf(error) {
      const failure = classifyGitHubError(error, deps.clock.now());
      if (failure.kind === 'down') return { kind: 'down', error };
      if (failure.kind === 'limited') {
        const { isSecondary, isContentCreation } = failure;
        deps.log.warn({ ...about, isSecondary, isContentCreation }, 'GitHub limits comments; they wait');
        // Statuses go on: GitHub's limit on comments says nothing about them.
        const until = new Date(failure.retryAt);
        const { id } = repository.installation;
        await deps.db.installation.update({ where: { id }, data: { commentsPausedUntil: until } });
        return { kind: 'limited', until };
      }
      // The conversation is locked, the pull request is gone, or a permission was removed.
      deps.log.warn({ ...about, failure }, 'a comment could not be written');
      return { kind: 'refused' };
    },
    async settle(results) {
      for (const { result } of results)
        if (result.kind === 'done') await settle(result.at);
        else if (result.kind === 'refused') await settle(null);
    },
  };
}

/** When an earlier try arrived; null if none did. */
async function findWritten(deps: Deps, place: Place): Promise<Date | null> {
  const { paginate, rest } = await clientOf(deps, place.repository);
  const botLogin = await deps.github.botLogin();
  const pages = paginate.iterator(rest.issues.listComments, {
    ...addressOfAnswer(place),
    since: place.since.toISOString(),
    per_page: 100,
  });
  for await (const { data } of pages) {
    const own = data.find(({ user, body }) => user?.login === botLogin && body?.includes(place.mark));
    if (own) return new Date(own.created_at);
  }
  return null;
}

/** A token from before the App requested permissions for comments could not post any. */
const clientOf = (deps: Deps, { installation }: FoundRepository) =>
  deps.github.asInstallation(installation.id, installation.permissions);

const addressOfAnswer = ({ repository: { account, name }, number }: Place) => ({
  owner: account.login,
  repo: name,
  issue_number: number,
});

/** The answer to a comment, as it was saved. */
function answerTo(
  deps: Deps,
  repository: FoundRepository,
  { commentId: id, number, since }: Extract<OwnComment, { commentId: string }>,
  turn: bigint,
): Effect<Due, Written> {
  const commentId = BigInt(id);
  const mark = `<!-- holdfast answers ${commentId < 0n ? `review ${-commentId}` : `comment ${commentId}`} -->`;
  const take = async () => {
    const taken = await takeAnswer(deps.sql, commentId, turn);
    return taken && { text: taken.answer, attempts: taken.attempts };
  };
  return commentIn(deps, { repository, number, since: new Date(since), mark }, take, (writtenAt) =>
    settleAnswer(deps.sql, commentId, turn, writtenAt),
  );
}

/**
 * Tells the conversation of a request that was made elsewhere, once, so that an admin can approve it there.
 * @returns null where the request is over, or too much was written within the hour.
 */
async function announcementOf(
  deps: Deps,
  repository: FoundRepository,
  id: string,
  isDecidedHere: boolean,
  turn: bigint,
): Promise<Effect<Due, Written> | null> {
  const request = await findExemption(deps.db, repository.id, id);
  if (!request || !isToAnnounce(request)) return null;
  const zone = await zoneOfRepository(deps.db, repository.id);
  const { pullRequest: number, requestedAt: since } = request;
  const mark = `<!-- holdfast announces request ${id} -->`;
  const take = async () => {
    if (!(await mayAnnounce(deps.db, repository.id, nowOf(deps.clock)))) return null;
    // No column counts attempts: there may always have been one.
    return { text: announcement(request, zone, isDecidedHere), attempts: 2 };
  };
  return commentIn(deps, { repository, number, since, mark }, take, async (writtenAt) => {
    if (writtenAt) await noteAnnounced(deps.sql, id, turn, writtenAt);
  });
}

const isToAnnounce = ({ state, endedAt, announcedAt }: ExemptionRecord): boolean =>
  state === 'requested' && endedAt === null && announcedAt === null;

/**
 * Tells a conversation of a request. Says no reason: it is not public until an admin approves it.
 * @param isDecidedHere whether admins can decide by comments.
 */
function announcement(
  { requestedBy, headSha, anyHead, expiresAt }: ExemptionRecord,
  zone: string,
  isDecidedHere: boolean,
): string {
  const what = anyHead ? '**all commits**' : `the commit ${headSha.slice(0, 7)}`;
  const head = `**Exemption requested** by ${asCode(actorName(requestedBy))} for ${what} until ${describeInstant(expiresAt, zone)}.`;
  const decide =
    anyHead || !isDecidedHere
      ? 'An admin or approver of the repository can decide on the page.'
      : howToDecide(headSha);
  return `${head} ${decide}${anyHead ? '' : ' A push ends the request.'}`;
}

/** @returns null where comments are off or the App may not write any. */
async function ownComment(
  deps: Deps,
  repositoryId: bigint,
  comment: OwnComment,
  turn: bigint,
): Promise<Effect<Due, Written> | null> {
  const [repository] = await repositoriesOfIds(deps.sql, [repositoryId]);
  if (!repository || repository.installation.suspendedAt || !mayComment(repository)) return null;
  const { commentCommands } = await readSettings(deps.db, repositoryId);
  if (!commentCommands) return null;
  return 'commentId' in comment
    ? answerTo(deps, repository, comment, turn)
    : announcementOf(deps, repository, comment.requestId, commentCommands === true, turn);
}

export const writeCommentTask = defineLane(jobs.writeComment, (deps: Deps, { repositoryId, comment }, turn) =>
  ownComment(deps, BigInt(repositoryId), comment, turn),
);

export const announceRequestTask = defineTask(jobs.announceRequest, (deps: Deps, { repositoryId, id }) =>
  deps.queue.send([jobs.writeComment(BigInt(repositoryId), { requestId: id })]),
);
