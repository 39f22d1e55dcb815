import type { Deps } from '../deps.ts';
import { type Grants, missingForComments } from '../github/app-manifest.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { pauseInstallation } from '../github/pause.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { pullRequestPath } from '../page-paths.ts';
import type { ToldOfComment } from '../queue/jobs.ts';
import { NotNow } from '../queue/not-now.ts';
import { countAttempt, settleAnswer } from './answer-store.ts';
import { answerBody, markOf } from './answer-text.ts';

/** Whether the installation granted the permissions that commands in comments need. */
export const mayComment = ({ installation }: FoundRepository): boolean =>
  missingForComments({ permissions: installation.permissions as Grants['permissions'] }).length === 0;

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
  const about = { repository: fullName(repository), pullRequest: told.number, comment: told.commentId };
  const tries = await countAttempt(deps.db, commentId);
  try {
    if (tries === 0 || !(await isWritten(deps, repository, told))) {
      const client = await clientOf(deps, repository);
      const page = deps.config.publicUrl + pullRequestPath(repository, told.number);
      await client.rest.issues.createComment({
        ...placeOf(repository, told),
        body: answerBody(commentId, text, page),
      });
      deps.log.info(about, 'comment answered');
    }
  } catch (error) {
    const failure = classifyGitHubError(error, deps.clock.now());
    if (failure.kind === 'down') throw error;
    if (failure.kind === 'limited') {
      await pauseInstallation(deps, repository.installation.id, failure);
      throw new NotNow(new Date(failure.retryAt));
    }
    // The conversation is locked, the pull request is gone, or a permission was removed.
    deps.log.warn({ ...about, failure }, 'a comment could not be answered');
  }
  await settleAnswer(deps.db, commentId);
}

/** Whether an earlier try arrived. */
async function isWritten(deps: Deps, repository: FoundRepository, told: ToldOfComment): Promise<boolean> {
  const { paginate, rest } = await clientOf(deps, repository);
  const mark = markOf(BigInt(told.commentId));
  const botLogin = await deps.github.botLogin();
  const pages = paginate.iterator(rest.issues.listComments, {
    ...placeOf(repository, told),
    since: told.at,
    per_page: 100,
  });
  for await (const { data } of pages)
    if (data.some(({ user, body }) => user?.login === botLogin && body?.includes(mark))) return true;
  return false;
}

/** A token from before the App requested permissions for comments could not post any. */
const clientOf = (deps: Deps, { installation }: FoundRepository) =>
  deps.github.asInstallation(installation.id, installation.permissions);

const placeOf = ({ account, name }: FoundRepository, { number }: ToldOfComment) => ({
  owner: account.login,
  repo: name,
  issue_number: number,
});
