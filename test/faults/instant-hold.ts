import { queuedBranch } from './actions/merge-queue.ts';
import { openOnes, type Stage } from './stage.ts';

/** The name of the service's ruleset, as its documentation gives it. */
export const rulesetName = 'Holdfast instant hold';

export type Mode = 'off' | 'bridge' | 'lock';

/** Everything that people and GitHub do to the instant hold of a run; null where there is no second App. */
export type InstantHold = {
  /** What was acknowledged. */
  mode: Mode;
  /** A change of the mode is under way. */
  isChanging: boolean;
  /** Why the second App can do nothing, and how that ends. */
  broken: { why: string; mend(): void } | null;
};

type Run = { mode: Mode | null; statusWritesPerMinute: number; openAtFirst: number };

/**
 * What a seed tries: no second App, a lock, or a bridge. A bridge is only worth it where statuses take long, so there
 * they do.
 */
export function runOf(seed: number): Run {
  const usual = { statusWritesPerMinute: 600, openAtFirst: 6 };
  if (seed % 3 === 2) return { mode: 'bridge', statusWritesPerMinute: 30, openAtFirst: 12 };
  return { ...usual, mode: seed % 3 === 1 ? 'lock' : null };
}

/** Ends what GitHub gets wrong about rulesets, and perhaps what stops the second App. */
export function mend({ github, instantHold, log }: Stage, alsoApp: boolean): void {
  Object.assign(github.rulesetFaults, { ignoredUpdates: 0, oldAnswers: 0 });
  if (!instantHold?.broken || !alsoApp) return;
  log(`the second App is no longer ${instantHold.broken.why}`);
  instantHold.broken.mend();
  instantHold.broken = null;
}

export const rulesetsInForce = ({ github, repository }: Stage) =>
  github
    .rulesetsOf(repository)
    .filter(({ name, enforcement }) => name === rulesetName && enforcement === 'active');

type Shown = ReturnType<typeof rulesetsInForce>[number];

const targets =
  (branch: string) =>
  ({ refs }: Shown) =>
    refs.include.some(
      (ref) => ref === `refs/heads/${branch}` || (ref === '~DEFAULT_BRANCH' && branch === 'main'),
    );

/**
 * Where the rulesets in force are not what the freezes want.
 * @param mayMiss of which pull requests the service cannot know how they are.
 */
export function wrongHolds(stage: Stage, mayMiss: (number: number) => boolean): string[] {
  const { github, repository, model, time, instantHold } = stage;
  if (!instantHold || instantHold.isChanging) return [];
  const { mode, broken } = instantHold;
  const at = time.now();
  const inForce = rulesetsInForce(stage);
  const passes = (sha: string, branch: string) =>
    inForce
      .filter(targets(branch))
      .every(({ checks }) =>
        checks.every(({ context }) => github.currentStatus(repository, sha, context)?.state === 'success'),
      );
  const wrong: string[] = [];
  if (!broken) {
    const isFrozen = model.living(at).some(({ startsAt }) => startsAt <= at);
    if (inForce.length > 1) wrong.push(`${inForce.length} rulesets are in force`);
    if (inForce.length > 0 && (mode === 'off' || !isFrozen))
      wrong.push(`a ruleset is in force without a freeze, in the mode ${mode}`);
    if (inForce.length > 0 && mode === 'bridge') wrong.push('a bridge is in force, though statuses hold');
  }
  const bySha = Map.groupBy(openOnes(stage), ({ headSha }) => headSha);
  const isFree = (number: number) =>
    model.holding(
      github.pullRequests(repository).find((each) => each.number === number)!,
      at,
    ).length === 0;
  for (const [sha, sharing] of bySha) {
    if (sharing.some(({ number }) => mayMiss(number))) continue;
    const areFree = sharing.every(({ number }) => isFree(number));
    for (const { number, base } of sharing) {
      if (areFree && !passes(sha, base)) wrong.push(`a ruleset blocks #${number}, which no freeze holds`);
      if (!areFree && mode === 'lock' && !broken && passes(sha, base))
        wrong.push(`no ruleset blocks #${number}, which a freeze holds`);
    }
  }
  for (const { headSha, pullRequests } of github.mergeGroups(repository)) {
    const isOurs = pullRequests.every((number) => isFree(number) && !mayMiss(number));
    if (isOurs && !passes(headSha, queuedBranch))
      wrong.push(`a ruleset blocks the merge group of #${pullRequests.join(', #')}, which no freeze holds`);
  }
  return wrong;
}

/** What the service says of its ruleset, and should not. */
export async function wrongClaims(stage: Stage): Promise<string[]> {
  const { api, repository, instantHold } = stage;
  if (!instantHold || instantHold.isChanging) return [];
  const { body } = await api.call('GET', `/v1/repos/${repository}/enforcement`);
  const { state, error } = body.instant as { state: string; error: string | null };
  const isInForce = rulesetsInForce(stage).length > 0;
  if (state === 'on' && !isInForce) return ['it says that a ruleset is in force, and none is'];
  if (instantHold.broken) return isInForce && error === null ? ['it does not say what is wrong'] : [];
  if (error !== null) return [`it says "${error}", and nothing is wrong`];
  return state === 'off' && isInForce ? ['it says that no ruleset is in force, and one is'] : [];
}
