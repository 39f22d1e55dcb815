import { nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { type Fact, known, unknownFact } from '../../github/pull-requests/pull-request.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { readHold, rulesetName } from '../../statuses/instant-hold/hold-store.ts';
import { listedWords } from '../../words/event-words.ts';
import { type Asking, askInTime } from './ask.ts';
import { readDefaultBranch } from './read-branches.ts';
import { bypassActorName } from './read-branch.ts';

// Whom the ruleset of an instant hold refuses, for people who switch it on: it applies to pushes, too.

/** Milliseconds for GitHub's answers. A page waits for them. */
const pushesPatience = 2_000;
/** How many branches, and how many rulesets, are worth a request. */
const mostBranches = 3;
const mostRulesets = 5;
const mostBranchesNamed = 20;

/** What everybody should know. */
export const pushesAreRefused =
  'While the ruleset is active, GitHub refuses direct pushes to the branches of a freeze. This includes pushes of release bots. Merge groups wait for its check, which Holdfast posts at once.';

/**
 * Whom the ruleset would refuse in a repository, and how to let them push, in sentences. Never throws, and takes 2 s at
 * most. The list of bypass actors takes the second App, the list of pushes no more than the first App has.
 */
export async function refusedPushes(deps: Deps, repository: FoundRepository): Promise<string[]> {
  const asking = { deps, repository, signal: AbortSignal.timeout(pushesPatience) };
  const hold = await readHold(deps.sql, repository.id, nowOf(deps.clock));
  const own = (hold?.bypass ?? []) as Parameters<typeof bypassActorName>[0][];
  const [pushed, others] = await Promise.all([
    readPushers(
      asking,
      (hold?.bases ?? [])
        .filter(({ name, isHead }) => name !== null && !isHead)
        .toSorted((one, other) => other.open - one.open)
        .map(({ name }) => name!),
    ),
    readOtherBypass(asking),
  ]);
  const bypassing = new Set(own.map(bypassActorName));
  const refused = others.known ? others.value.filter((name) => !bypassing.has(name)) : [];
  const rules = `${webUrlOf(deps.config.githubApiUrl)}/${fullName(repository)}/settings/rules`;
  return [
    pushed.known
      ? pushed.value.people.length > 0
        ? `Pushed directly to ${listedWords(pushed.value.branches, mostBranchesNamed)} in the last week: ${listedWords(pushed.value.people, mostBranchesNamed)}.`
        : `Nobody pushed directly to ${listedWords(pushed.value.branches, mostBranchesNamed)} in the last week.`
      : `Holdfast cannot tell who pushed directly in the last week: ${pushed.reason}.`,
    others.known
      ? refused.length > 0
        ? `These can bypass other rulesets of the repository, but not this one: ${listedWords(refused, mostBranchesNamed)}.`
        : 'Nobody else can bypass other rulesets of the repository.'
      : `Holdfast cannot tell who can bypass other rulesets of the repository: ${others.reason}.`,
    `${bypassing.size > 0 ? `These can bypass it: ${listedWords([...bypassing], mostBranchesNamed)}.` : 'Nobody can bypass it.'} To let somebody push, add them to the bypass list of the ruleset ${rulesetName} at ${rules}${hold?.rulesetId ? `/${hold.rulesetId}` : ', where the first freeze creates it. You can also create it before, disabled, with this name'}. Holdfast keeps the list.`,
  ];
}

/** Who pushed to the default branch and the bases with most pull requests within a week. A merge is no push. */
async function readPushers(
  asking: Asking,
  bases: string[],
): Promise<Fact<{ branches: string[]; people: string[] }>> {
  const main = await readDefaultBranch(asking);
  if (!main.known) return main;
  const branches = [...new Set([main.value, ...bases])].slice(0, mostBranches);
  const lists = await Promise.all(
    branches.map((branch) =>
      askInTime(asking, 'installation', async ({ rest }, named) => {
        const about = { ref: `refs/heads/${branch}`, activity_type: 'push', time_period: 'week' } as const;
        const { data } = await rest.repos.listActivities({ ...named, ...about, per_page: 100 });
        return data.map(({ actor }) => actor?.login ?? 'a deleted account');
      }),
    ),
  );
  const missing = lists.find((list) => !list.known);
  if (missing) return missing as Fact<never>;
  const people = lists.flatMap((list) => (list.known ? list.value : []));
  return known({ branches, people: [...new Set(people)] });
}

/** Who may bypass active rulesets of the repository. GitHub only says so to those who may edit them. */
async function readOtherBypass(asking: Asking): Promise<Fact<string[]>> {
  const lists = await askInTime(asking, 'lock', async ({ rest }, named) => {
    const { data } = await rest.repos.getRepoRulesets({ ...named, includes_parents: false, per_page: 100 });
    const others = data.filter(({ name, enforcement }) => name !== rulesetName && enforcement === 'active');
    const read = ({ id }: { id: number }) => rest.repos.getRepoRuleset({ ...named, ruleset_id: id });
    const rulesets = await Promise.all(others.slice(0, mostRulesets).map(read));
    return rulesets.map(({ data: { bypass_actors: actors } }) => actors?.map(bypassActorName));
  });
  if (!lists.known) return lists;
  const shown = lists.value.flatMap((names) => (names ? [names] : []));
  if (shown.length < lists.value.length) return unknownFact('GitHub does not show it to the second App');
  return known([...new Set(shown.flat())]);
}
