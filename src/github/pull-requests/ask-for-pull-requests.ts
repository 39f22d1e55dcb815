import { GraphqlResponseError } from '@octokit/graphql';
import { isGitHubStatus } from '../github-error.ts';
import { askInPart, type GraphqlProblem } from './ask-in-part.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { PullRequestAnswer } from '../queries/answers.ts';
import { type Part, partAt, switchOf } from '../queries/parts.ts';
import { type Switch, switchesFor } from '../queries/switches.ts';

/** A pull request as GitHub gave it, and which parts it did not give. */
export type ReadPullRequest = {
  answer: PullRequestAnswer;
  problems: { part: Part; type?: string }[];
};

/** A question whose answer holds pull requests, and where. */
export type Question<Answer> = {
  query: string;
  variables: Record<string, unknown>;
  /** The path to the pull request, or to the list of them. */
  path: string[];
  pullRequestsOf(answer: Answer): (PullRequestAnswer | null)[];
};

/** The whole answer, and the pull requests in it; null for one that is not there. */
type Answered<Answer> = { answer: Answer; read: (ReadPullRequest | null)[] };

/**
 * Asks for pull requests. An answer in part counts only where we can tell what its nulls mean: parts that are not
 * known, or pull requests that are gone. Any other error is thrown, so that nothing is taken for absent.
 * @param mayAskForLess what GitHub found too big is thrown then, although it answered a part of it.
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
    // A part that must not be null and could not be given takes its pull request along. Asked for without it, the
    // pull request comes back, and that part is then read on its own.
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

/** Which pull request of the answer an error is about, and which part of it. */
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

/** Whether GitHub found that a question takes too long, or too much. */
export function isTooMuch(error: unknown): boolean {
  if (isGitHubStatus(error, 502, 504)) return true;
  if (!(error instanceof GraphqlResponseError)) return false;
  const errors = (error.errors ?? []) as { type?: string; message?: string }[];
  return errors.some(
    ({ type, message }) =>
      type === 'RESOURCE_LIMITS_EXCEEDED' || (!type && /timeout|timed out/i.test(message ?? '')),
  );
}
