import { nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { type ExemptionRecord, findExemption } from '../../freezes/exemptions/exemption-store.ts';
import { type Grants, missingForComments } from '../../github/app-manifest.ts';
import { classifyGitHubError } from '../../github/github-error.ts';
import { type FoundRepository, fullName, repositoriesOfIds } from '../../installations/find-repository.ts';
import { pullRequestPath } from '../../installations/page-paths.ts';
import { readSettings } from '../../installations/settings.ts';
import { actorName } from '../../events/actor.ts';
import { defineTask, NotNow } from '../../database/queue/define-task.ts';
import { type ToldOfComment, jobs } from '../../database/queue/jobs.ts';
import { takePlace } from '../../statuses/lease.ts';
import { describeInstant } from '../../time/local-time.ts';
import { countAttempt, settleAnswer, mayAnnounce, noteAnnounced } from './answer-store.ts';
import { asCode } from '../../github/markdown.ts';
import { howToDecide } from '../commands/exemptions.ts';
import { zoneOfRepository } from '../commands/order.ts';

/** Whether the installation granted the permissions that commands in comments need. */
export const mayComment = ({ installation }: FoundRepository): boolean =>
  missingForComments({ permissions: installation.permissions as Grants['permissions'] }).length === 0;

/** @throws NotNow while GitHub limits the installation, or only its comments. */
export async function assertNotPaused(deps: Deps, { installation: { id } }: FoundRepository): Promise<void> {
  const { pausedUntil, commentsPausedUntil } = await deps.db.installation.findUniqueOrThrow({
    where: { id },
  });
  for (const until of [pausedUntil, commentsPausedUntil])
    if (until && until > nowOf(deps.clock)) throw new NotNow(until);
}

/**
 * Posts the answer to a comment, once. If GitHub will never accept it, logs that and gives up.
 * @throws NotNow while GitHub limits us, or GitHub's error while it is down. The worker tries again.
 */
export async function writeAnswer(
  deps: Deps,
  repository: FoundRepository,
  comment: ToldOfComment,
  text: string,
): Promise<void> {
  const commentId = BigInt(comment.commentId);
  const tries = await countAttempt(deps.db, commentId);
  const target = {
    repository,
    number: comment.number,
    since: new Date(comment.at),
    mark: `<!-- holdfast answers ${commentId < 0n ? `review ${-commentId}` : `comment ${commentId}`} -->`,
  };
  await settleAnswer(deps.db, commentId, await postOnce(deps, target, text, tries > 0));
}

/** Where a comment belongs, and the hidden mark by which we recognize it among those written `since`. */
type Target = { repository: FoundRepository; number: number; since: Date; mark: string };

/**
 * Posts a comment, unless an earlier try arrived.
 * @param wasTried whether there may have been one.
 * @returns when it was posted, by GitHub's clock; null if GitHub will never accept it.
 * @throws NotNow while GitHub limits us, or statuses go first; GitHub's error while it is down.
 */
async function postOnce(deps: Deps, target: Target, text: string, wasTried: boolean): Promise<Date | null> {
  const { repository, number, mark } = target;
  const about = { repository: fullName(repository), pullRequest: number, mark };
  try {
    const earlier = wasTried ? await findPosted(deps, target) : null;
    if (earlier) return earlier;
    const later = await takePlace(deps, repository.installation.id);
    if (later) throw new NotNow(later);
    const client = await clientOf(deps, repository);
    const page = deps.config.publicUrl + pullRequestPath(repository, number);
    const { data } = await client.rest.issues.createComment({
      ...addressOf(target),
      body: `${text}\n\n[View this pull request on Holdfast](${page})\n\n${mark}`,
    });
    deps.log.info(about, 'comment written');
    return new Date(data.created_at);
  } catch (error) {
    if (error instanceof NotNow) throw error;
    const failure = classifyGitHubError(error, deps.clock.now());
    if (failure.kind === 'down') throw error;
    if (failure.kind === 'limited') {
      const { isSecondary, isContentCreation } = failure;
      deps.log.warn({ ...about, isSecondary, isContentCreation }, 'GitHub limits comments; they wait');
      // Statuses go on: GitHub's limit on comments says nothing about them.
      const commentsPausedUntil = new Date(failure.retryAt);
      const { id } = repository.installation;
      await deps.db.installation.update({ where: { id }, data: { commentsPausedUntil } });
      throw new NotNow(commentsPausedUntil);
    }
    // The conversation is locked, the pull request is gone, or a permission was removed.
    deps.log.warn({ ...about, failure }, 'a comment could not be written');
    return null;
  }
}

/** When an earlier try arrived; null if none did. */
async function findPosted(deps: Deps, target: Target): Promise<Date | null> {
  const { paginate, rest } = await clientOf(deps, target.repository);
  const botLogin = await deps.github.botLogin();
  const pages = paginate.iterator(rest.issues.listComments, {
    ...addressOf(target),
    since: target.since.toISOString(),
    per_page: 100,
  });
  for await (const { data } of pages) {
    const own = data.find(({ user, body }) => user?.login === botLogin && body?.includes(target.mark));
    if (own) return new Date(own.created_at);
  }
  return null;
}

/** A token from before the App requested permissions for comments could not post any. */
const clientOf = (deps: Deps, { installation }: FoundRepository) =>
  deps.github.asInstallation(installation.id, installation.permissions);

const addressOf = ({ repository: { account, name }, number }: Target) => ({
  owner: account.login,
  repo: name,
  issue_number: number,
});

/**
 * Tells the conversation of a request that was made elsewhere, once, so that an admin can approve it there. Does nothing
 * where comments are off, the request is over, or too much was written within the hour.
 * @throws like `writeAnswer`.
 */
async function announceRequest(deps: Deps, repositoryId: bigint, id: string): Promise<void> {
  const [repository] = await repositoriesOfIds(deps.sql, [repositoryId]);
  if (!repository || repository.installation.suspendedAt || !mayComment(repository)) return;
  const { commentCommands } = await readSettings(deps.db, repositoryId);
  const request = await findExemption(deps.db, repositoryId, id);
  if (!commentCommands || !request || !isToAnnounce(request)) return;
  await assertNotPaused(deps, repository);
  if (!(await mayAnnounce(deps.db, repositoryId, nowOf(deps.clock)))) return;
  const { pullRequest: number, requestedAt: since } = request;
  const text = announcement(request, await zoneOfRepository(deps.db, repositoryId), commentCommands === true);
  const mark = `<!-- holdfast announces request ${id} -->`;
  const postedAt = await postOnce(deps, { repository, number, since, mark }, text, true);
  if (postedAt) await noteAnnounced(deps.db, id, postedAt);
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

export const announceRequestTask = defineTask(jobs.announceRequest, (deps, { repositoryId, id }) =>
  announceRequest(deps, BigInt(repositoryId), id),
);
