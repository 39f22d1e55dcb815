import { askInPart, whyMissing } from './ask-in-part.ts';
import { type Fact, known, notKnown } from './fact.ts';
import { dependsOn, keyOf, type PullRequestName } from '../facts/depends-on.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { PullRequestAnswer } from '../queries/answers.ts';
import { greatestNumber } from '../greatest-number.ts';
import { mergedQuery, type MergedAnswer } from '../queries/other-queries.ts';
import { whyNotRead } from './why-not-read.ts';

/** The limit. With more, one pull request could cost as many requests as all others. */
const mostDependencies = 50;

/** What is merged, by pull request. A load shares it, so that it asks about each once. */
export type MergedOnes = Map<string, Promise<Fact<string | null>>>;

/**
 * The merged ones, as `owner/repo#n`, of the pull requests that a description depends on.
 * @throws rate limits and outages.
 */
export async function readDependencies(
  from: Pick<LoadFrom, 'client' | 'deps'>,
  { url, repository }: PullRequestAnswer,
  body: string,
  asked: MergedOnes,
): Promise<Fact<string[]>> {
  const [owner, name] = repository.nameWithOwner.split('/') as [string, string];
  const named = dependsOn(body, { owner, name, host: new URL(url).host });
  if (named.length > mostDependencies) {
    return notKnown(`it depends on more than ${mostDependencies} pull requests`);
  }
  const merged: string[] = [];
  for (const each of named) {
    const key = keyOf(each);
    let answer = asked.get(key);
    if (!answer) asked.set(key, (answer = readMerged(from, each)));
    const fact = await answer;
    if (!fact.known) return fact;
    if (fact.value !== null) merged.push(fact.value);
  }
  return known([...new Set(merged)]);
}

/** Its name, as GitHub spells it, if it is merged; null if it is not merged or does not exist. */
async function readMerged(
  { client, deps }: Pick<LoadFrom, 'client' | 'deps'>,
  named: PullRequestName,
): Promise<Fact<string | null>> {
  if (named.number > greatestNumber) return known(null);
  const what = 'dependencies';
  try {
    const { answer, problems, error } = await askInPart<MergedAnswer>(client, mergedQuery, named);
    // GitHub says nothing about pull requests in a repository that we cannot see.
    const others = problems.filter(({ type, path }) => type !== 'NOT_FOUND' || path.length < 2);
    if (others.length > 0) {
      deps.log.warn({ err: error }, 'GitHub answered in part');
      return notKnown(whyMissing(others, what));
    }
    const { repository } = answer;
    return known(repository?.pullRequest?.merged ? `${repository.nameWithOwner}#${named.number}` : null);
  } catch (error) {
    return notKnown(whyNotRead(error, what));
  }
}
