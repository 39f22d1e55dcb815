import { type Fact, known, notKnown } from './fact.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { PullRequestAnswer } from '../queries/answers.ts';
import { whyNotRead } from './why-not-read.ts';

/**
 * How many commits the base branch has that the pull request lacks.
 * @throws rate limits and outages.
 */
export async function readBehind(
  { client, repository, deps }: Pick<LoadFrom, 'client' | 'repository' | 'deps'>,
  { baseRefName, headRefOid, number }: PullRequestAnswer,
): Promise<Fact<number>> {
  try {
    const { data } = await client.rest.repos.compareCommitsWithBasehead({
      owner: repository.account.login,
      repo: repository.name,
      // By its SHA the head of a fork is found too.
      basehead: `${baseRefName}...${headRefOid}`,
      per_page: 1,
    });
    return known(data.behind_by);
  } catch (error) {
    const reason = whyNotRead(error, 'distance from its base');
    deps.log.warn({ err: error, number }, 'a pull request could not be compared with its base');
    return notKnown(reason);
  }
}
