import type { GitHubClient } from '../../github/github-app.ts';
import { type Fact, known, notKnown } from '../../github/pull-requests/fact.ts';
import { type Asking, ask } from './asking.ts';
import { placeOf } from './read-branches.ts';

export type Ruleset = Awaited<ReturnType<GitHubClient['rest']['repos']['getRepoRuleset']>>['data'];
type Actor = NonNullable<Ruleset['bypass_actors']>[number];

export type ReadRuleset = (id: number) => Promise<Fact<Ruleset>>;

/** Reads rulesets of the repository, its organization or its enterprise. Reads each once, even for many branches. */
export function rulesetReader(asking: Asking): ReadRuleset {
  const read = (id: number): Promise<Fact<Ruleset>> =>
    ask(asking, 'installation', async ({ rest }, request) => {
      const { data } = await rest.repos.getRepoRuleset({ ...placeOf(asking), ruleset_id: id, request });
      return data;
    });
  const answers = new Map<number, Promise<Fact<Ruleset>>>();
  return (id) => {
    const answer = answers.get(id) ?? read(id);
    answers.set(id, answer);
    return answer;
  };
}

/** Who may bypass a ruleset, in words. GitHub only says so to those who may edit it. Holdfast may not. */
export function readBypass(ruleset: Fact<Ruleset>): Fact<string[]> {
  if (!ruleset.known) return ruleset;
  const actors = ruleset.value.bypass_actors;
  return actors
    ? known(actors.map(nameOf))
    : notKnown('GitHub only shows it to people who can edit the ruleset');
}

/** GitHub's ids for its built-in roles. */
const roles: Record<number, string> = {
  2: 'maintainers',
  4: 'everybody with write access',
  5: 'repository admins',
};

function nameOf({ actor_type: type, actor_id: id }: Actor): string {
  switch (type) {
    case 'OrganizationAdmin':
      return 'organization owners';
    case 'RepositoryRole':
      return roles[id ?? 0] ?? `the role ${id}`;
    case 'DeployKey':
      return 'deploy keys';
    case 'Integration':
      return `the App ${id}`;
    default:
      return `the ${type.toLowerCase()} ${id}`;
  }
}
