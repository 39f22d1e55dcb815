import { cachePerService } from '../cache.ts';
import type { PullRequestAnswer } from '../queries/answers.ts';
import { didNotGive, type Fact, known, notKnown } from './fact.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import { whyNotRead } from './why-not-read.ts';

/** Who pushed a commit to a branch never changes. */
const pusherOf = cachePerService<string, string>(20_000, Infinity);

/**
 * The login of the person or bot that pushed the head commit. Commits cannot tell: git takes every name, and a signature
 * says who made a commit, not who pushed it. GitHub's list of a repository's activities has who was signed in.
 * @throws rate limits and outages.
 */
export async function readLastPusher(
  { client, repository, deps }: Pick<LoadFrom, 'client' | 'repository' | 'deps'>,
  { headRefName, headRefOid, headRepository, isCrossRepository, number }: PullRequestAnswer,
): Promise<Fact<string>> {
  if (isCrossRepository || !headRepository) return notKnown('Holdfast cannot read who pushes to a fork');
  const kept = pusherOf(deps);
  const key = `${repository.id} ${headRefOid} ${headRefName}`;
  const before = kept.get(key);
  if (before !== undefined) return known(before);
  try {
    const { data } = await client.rest.repos.listActivities({
      owner: repository.account.login,
      repo: repository.name,
      ref: `refs/heads/${headRefName}`,
      per_page: 1,
    });
    const last = data[0];
    // A push that is not in the list yet leaves an older one there.
    if (last?.after !== headRefOid || !last.actor) return notKnown(didNotGive(what));
    kept.set(key, last.actor.login);
    return known(last.actor.login);
  } catch (error) {
    const reason = whyNotRead(error, what);
    deps.log.warn({ err: error, number }, 'the last push to a pull request could not be read');
    return notKnown(reason);
  }
}

const what = 'last push';
