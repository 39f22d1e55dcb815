import { cachePerService } from '../cache.ts';
import type { PullRequestAnswer } from '../queries/answers.ts';
import { type Fact, known, notKnown } from './fact.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import { whyNotRead } from './why-not-read.ts';

/** How far behind, by both SHAs. GitHub compares only two commits with one question. */
const comparedBy = cachePerService<string, number>(20_000, Infinity);

/**
 * How many commits the base branch has that the pull request lacks.
 * @throws rate limits and outages.
 */
export async function readBehind(
  { client, repository, deps }: Pick<LoadFrom, 'client' | 'repository' | 'deps'>,
  { base, baseRefName, headRefOid, number }: PullRequestAnswer,
): Promise<Fact<number>> {
  const compared = comparedBy(deps);
  const baseSha = base?.target?.oid;
  const key = `${repository.id} ${baseSha}...${headRefOid}`;
  const before = baseSha ? compared.get(key) : undefined;
  if (before !== undefined) return known(before);
  try {
    const { data } = await client.rest.repos.compareCommitsWithBasehead({
      owner: repository.account.login,
      repo: repository.name,
      // By its SHA, GitHub also finds the head of a fork.
      basehead: `${baseSha ?? baseRefName}...${headRefOid}`,
      per_page: 1,
    });
    if (baseSha) compared.set(key, data.behind_by);
    return known(data.behind_by);
  } catch (error) {
    const reason = whyNotRead(error, 'distance from its base');
    deps.log.warn({ err: error, number }, 'a pull request could not be compared with its base');
    return notKnown(reason);
  }
}
