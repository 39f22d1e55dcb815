import { GraphqlResponseError } from '@octokit/graphql';
import { isGitHubStatus } from '../github-error.ts';
import { askInPart, type GraphqlProblem } from './ask-in-part.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { PullRequestAnswer } from '../queries/answers.ts';
import { type Part, partAt, switchOf } from '../queries/parts.ts';
import { type Switch, switchesFor } from '../queries/switches.ts';

/** A pull request as GitHub gave it, and the parts that it did not give. */
export type ReadPullRequest = {
  answer: PullRequestAnswer;
  problems: { part: Part; type?: string }[];
};

/** A question, and where its answer has pull requests. */
export type Question<Answer> = {
  query: string;
  variables: Record<string, unknown>;
  /** The path to the pull request, or to the list of them. */
  path: string[];
  pullRequestsOf(answer: Answer): (PullRequestAnswer | null)[];
};

/** The whole answer, and its pull requests; null for one that does not exist. */
type Answered<Answer> = { answer: Answer; read: (ReadPullRequest | null)[] };

/**
 * Asks for pull requests. A partial answer counts only if we can tell what its nulls mean: parts that are not known, or
 * pull requests that are gone. This throws any other error, so that nothing looks absent by mistake.
 * @param mayAskForLess throws if GitHub found the question too big, even with a partial answer.
 */
export async function askForPullRequests<Answer>(
  { client, deps, needs }: LoadFrom,
  question: Question<Answer>,
  mayAskForLess = false,
): Promise<Answered<Answer>> {
  const context = deps.config.statusContext;
  const off = new Set<Switch>();
  for (;;) {
    const variables = { ...question.variables, context, ...switchesFor(needs.facts, off) };
    const { answer, problems, error } = await askInPart<Answer>(client, question.query, variables);
    if (problems.length > 0) {
      if (mayAskForLess && isTooMuch(error)) throw error;
      const { message, type, path } = problems[0]!;
      deps.log.warn({ count: problems.length, first: { message, type, path } }, 'GitHub answered in part');
    }
    const located = problems.map((problem) => locate(question.path, problem));
    if (!located.every(({ part, isGone }) => part !== null || isGone)) throw error;
    const answers = question.pullRequestsOf(answer);
    // If GitHub cannot give a part that must not be null, the whole pull request is null. We ask again without that
    // part and then read the part on its own.
    const lost = located.filter(({ index, part }) => part !== null && !answers[index]);
    if (lost.length === 0) {
      const read = answers.map(
        (each, index) => each && { answer: each, problems: problemsOf(located, index) },
      );
      return { answer, read };
    }
    for (const { part } of lost) {
      const name = switchOf(part!);
      if (name === null || off.has(name)) throw error;
      off.add(name);
    }
  }
}

/** The pull request in the answer that an error is about, and the part of it. */
type Located = { index: number; part: Part | null; isGone: boolean; type?: string };

function locate(prefix: string[], { path, type }: GraphqlProblem): Located {
  if (!prefix.every((step, at) => path[at] === step)) return { index: 0, part: null, isGone: false };
  const below = path.slice(prefix.length);
  const index = typeof below[0] === 'number' ? (below.shift() as number) : 0;
  return { index, part: partAt(below), isGone: below.length === 0 && type === 'NOT_FOUND', type };
}

const problemsOf = (located: Located[], index: number): ReadPullRequest['problems'] =>
  located.flatMap((problem) =>
    problem.index === index && problem.part ? [{ part: problem.part, type: problem.type }] : [],
  );

/** Whether GitHub found a question too slow or too big. */
export function isTooMuch(error: unknown): boolean {
  if (isGitHubStatus(error, 502, 504)) return true;
  if (!(error instanceof GraphqlResponseError)) return false;
  const errors = (error.errors ?? []) as { type?: string; message?: string }[];
  return errors.some(
    ({ type, message }) =>
      type === 'RESOURCE_LIMITS_EXCEEDED' || (!type && /timeout|timed out/i.test(message ?? '')),
  );
}
