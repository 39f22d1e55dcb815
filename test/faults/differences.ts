import { wrongHolds } from './instant-hold.ts';
import { everybody, openOnes, type Stage } from './stage.ts';

/**
 * The head SHAs of open pull requests, the merge groups, and the rulesets that do not show what the model says.
 * @param mayMiss of which pull requests of a repository the service cannot know how they are.
 */
export const differences = (
  whole: Stage,
  mayMiss = (_repository: string, _number: number) => false,
): string[] =>
  everybody(whole).flatMap((stage) => {
    const { repository } = stage;
    const misses = (number: number) => mayMiss(repository, number);
    return [...wrongGroups(stage, misses), ...wrongHeads(stage, misses), ...wrongHolds(stage, misses)].map(
      (what) => (stage === whole ? what : `${repository}: ${what}`),
    );
  });

/** A group that contains a frozen pull request must not pass, and any other must: then it is merged. */
function wrongGroups(
  { github, repository, model, time }: Stage,
  mayMiss: (number: number) => boolean,
): string[] {
  github.advanceQueues();
  const open = new Map(github.pullRequests(repository).map((pr) => [pr.number, pr]));
  return github.mergeGroups(repository).flatMap(({ headSha, pullRequests }) => {
    if (pullRequests.some(mayMiss)) return [];
    const isHeld = pullRequests.some((number) => model.holding(open.get(number)!, time.now()).length > 0);
    const state = github.currentStatus(repository, headSha)?.state ?? 'nothing';
    if (isHeld ? state !== 'success' && state !== 'nothing' : state === 'success') return [];
    return [
      `the merge group of #${pullRequests.join(', #')} shows ${state}, and is ${isHeld ? '' : 'not '}frozen`,
    ];
  });
}

function wrongHeads(stage: Stage, mayMiss: (number: number) => boolean): string[] {
  const { github, repository, model, time } = stage;
  const bySha = Map.groupBy(openOnes(stage), ({ headSha }) => headSha);
  return [...bySha].flatMap(([sha, sharing]) => {
    if (sharing.some(({ number }) => mayMiss(number))) return [];
    const { state, descriptions } = model.expected(sharing, time.now());
    const shown = github.currentStatus(repository, sha);
    if (shown?.state === state && descriptions.includes(shown.description ?? '')) return [];
    const numbers = sharing.map(({ number }) => `#${number}`).join(', ');
    const wanted = `${state} "${descriptions.join('" or "')}"`;
    return [`${numbers} at ${sha.slice(0, 7)} shows ${told(stage, sha)}, and not ${wanted}`];
  });
}

/** Every status that a SHA has had. */
export function told({ github, repository }: Stage, sha: string): string {
  const history = github.statusHistory(repository, sha);
  return (
    history.map(({ state, description }) => `${state} "${description}"`).join(', then ') || 'nothing at all'
  );
}
