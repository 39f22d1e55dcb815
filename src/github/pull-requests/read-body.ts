import type { ReadPullRequest } from './ask-for-pull-requests.ts';
import { askInPart, whyMissing } from './ask-in-part.ts';
import { didNotGive, type Fact, known, notKnown } from './fact.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import { type BodyAnswer, bodyQuery } from '../queries/other-queries.ts';
import { whyNotRead } from './why-not-read.ts';

const what = 'description';

/**
 * The description as it was written; '' if there is none. If the first question had to leave it out, this reads it on
 * its own.
 * @throws rate limits and outages.
 */
export async function readBody(
  { client, deps }: Pick<LoadFrom, 'client' | 'deps'>,
  { answer: { id, number, body } }: Pick<ReadPullRequest, 'answer'>,
): Promise<Fact<string>> {
  if (body !== undefined) return known(body ?? '');
  try {
    const { answer, problems, error } = await askInPart<BodyAnswer>(client, bodyQuery, { id });
    if (problems.length > 0) {
      deps.log.warn({ err: error, number }, 'GitHub answered in part');
      return notKnown(whyMissing(problems, what));
    }
    return answer.node ? known(answer.node.body ?? '') : notKnown(didNotGive(what));
  } catch (error) {
    return notKnown(whyNotRead(error, what));
  }
}
