import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { type Grants, missingForComments } from '../../github/app-manifest.ts';
import { classifyGitHubError } from '../../github/github-error.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { pullRequestPath } from '../../installations/page-paths.ts';
import { takePlace } from '../../statuses/lease.ts';
import type { ToldOfComment } from '../../queue/jobs.ts';
import { NotNow } from '../../queue/define-task.ts';
import { countAttempt, settleAnswer } from './answer-store.ts';
import { answerMark, bodyOf } from './answer-text.ts';

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
  told: ToldOfComment,
  text: string,
): Promise<void> {
  const commentId = BigInt(told.commentId);
  const tries = await countAttempt(deps.db, commentId);
  const place = { repository, number: told.number, since: new Date(told.at), mark: answerMark(commentId) };
  await settleAnswer(deps.db, commentId, await postOnce(deps, place, text, tries > 0));
}

/** Where a comment belongs, and the hidden mark by which we recognize it among those written `since`. */
type Place = { repository: FoundRepository; number: number; since: Date; mark: string };

/**
 * Posts a comment, unless an earlier try arrived.
 * @param wasTried whether there may have been one.
 * @returns when it was posted, by GitHub's clock; null if GitHub will never accept it.
 * @throws NotNow while GitHub limits us, or statuses go first; GitHub's error while it is down.
 */
export async function postOnce(
  deps: Deps,
  place: Place,
  text: string,
  wasTried: boolean,
): Promise<Date | null> {
  const { repository, number, mark } = place;
  const about = { repository: fullName(repository), pullRequest: number, mark };
  try {
    const earlier = wasTried ? await findPosted(deps, place) : null;
    if (earlier) return earlier;
    const later = await takePlace(deps, repository.installation.id);
    if (later) throw new NotNow(later);
    const client = await clientOf(deps, repository);
    const page = deps.config.publicUrl + pullRequestPath(repository, number);
    const { data } = await client.rest.issues.createComment({
      ...addressOf(place),
      body: bodyOf(text, page, mark),
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
      await pauseComments(deps, repository, new Date(failure.retryAt));
      throw new NotNow(new Date(failure.retryAt));
    }
    // The conversation is locked, the pull request is gone, or a permission was removed.
    deps.log.warn({ ...about, failure }, 'a comment could not be written');
    return null;
  }
}

/** Statuses go on: GitHub's limit on comments says nothing about them. */
async function pauseComments(
  deps: Deps,
  { installation: { id } }: FoundRepository,
  until: Date,
): Promise<void> {
  await deps.db.installation.update({ where: { id }, data: { commentsPausedUntil: until } });
}

/** When an earlier try arrived; null if none did. */
async function findPosted(deps: Deps, place: Place): Promise<Date | null> {
  const { paginate, rest } = await clientOf(deps, place.repository);
  const botLogin = await deps.github.botLogin();
  const pages = paginate.iterator(rest.issues.listComments, {
    ...addressOf(place),
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

const addressOf = ({ repository: { account, name }, number }: Place) => ({
  owner: account.login,
  repo: name,
  issue_number: number,
});
