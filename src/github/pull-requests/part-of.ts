import type { ReadPullRequest } from './ask-for-pull-requests.ts';
import { whyMissing } from './ask-in-part.ts';
import { type Fact, known, notKnown } from './fact.ts';
import type { PullRequestAnswer } from '../queries/answers.ts';
import type { Part } from '../queries/parts.ts';

/** A part of a pull request, which comes whole or not at all. */
export function partOf<Value>(
  { answer, problems }: ReadPullRequest,
  part: Part,
  what: string,
  valueOf: (answer: PullRequestAnswer) => Value,
): Fact<Value> {
  const missing = problems.filter((problem) => problem.part === part);
  return missing.length > 0 ? notKnown(whyMissing(missing, what)) : known(valueOf(answer));
}
