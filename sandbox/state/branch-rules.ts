import { roleOf } from './access.ts';
import { trunkOf } from './stacks.ts';
import type {
  Account,
  BranchProtection,
  BypassActor,
  Patterns,
  PullRequest,
  Repository,
  RequiredCheck,
  Ruleset,
} from './model.ts';

/** GitHub Free has no rules for private repositories: those that were set before are kept, and apply to nothing. */
export const hasRules = ({ private: isPrivate, owner }: Repository): boolean =>
  !isPrivate || owner.plan !== 'free';

/** The active rulesets of a branch, those of the organization first. The branch does not need to exist. */
export function rulesetsOn(repository: Repository, branch: string): Ruleset[] {
  if (!hasRules(repository)) return [];
  const { owner, name, defaultBranch } = repository;
  const isDefault = branch === defaultBranch;
  return [
    ...owner.rulesets.filter(({ repositories }) => covers(repositories, name)),
    ...repository.rulesets,
  ].filter(
    ({ enforcement, refs }) =>
      enforcement === 'active' &&
      covers(refs, `refs/heads/${branch}`, isDefault ? ['~ALL', '~DEFAULT_BRANCH'] : ['~ALL']),
  );
}

/** Each required check of a branch, with the rule that requires it. */
export function requirementsOf(
  repository: Repository,
  branch: string,
): { check: RequiredCheck; by: BranchProtection | Ruleset }[] {
  const protection = hasRules(repository) ? repository.protection.get(branch) : undefined;
  const all = [...(protection ? [protection] : []), ...rulesetsOn(repository, branch)];
  return all.flatMap((by) => by.checks.map((check) => ({ check, by })));
}

/** What requires that it is up to date with its base, if it is not. */
export const keptBehindBy = (pr: PullRequest): BranchProtection | Ruleset | undefined =>
  pr.behind > 0 ? requirementsOf(pr.repository, trunkOf(pr)).find(({ by }) => by.strict)?.by : undefined;

/** Whether a person can merge past a protection or a ruleset. */
export function mayBypass(repository: Repository, by: BranchProtection | Ruleset, person: Account): boolean {
  if ('enforceAdmins' in by) return !by.enforceAdmins && roleOf(person, repository) === 'admin';
  return by.bypassActors.some((actor) => isActor(repository, actor, person));
}

/** GitHub's ids of its own roles. */
const roles = { 2: 'maintain', 4: 'write', 5: 'admin' } as const;

function isActor({ owner, ...rest }: Repository, actor: BypassActor, person: Account): boolean {
  switch (actor.actor_type) {
    case 'OrganizationAdmin':
      return owner.members.get(person.id) === 'admin';
    case 'RepositoryRole':
      return roles[actor.actor_id as keyof typeof roles] === roleOf(person, { owner, ...rest });
    case 'Team':
      return owner.teams.values().some(({ id, members }) => id === actor.actor_id && members.has(person));
    case 'User':
      return actor.actor_id === person.id;
    default:
      return false;
  }
}

function covers({ include, exclude }: Patterns, name: string, words: string[] = ['~ALL']): boolean {
  const fits = (pattern: string) => words.includes(pattern) || globOf(pattern).test(name);
  return include.some(fits) && !exclude.some(fits);
}

/** Like `fnmatch` with FNM_PATHNAME: one star stays within a part of the name. */
function globOf(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/?|\*|\?/g, (wildcard) => (wildcard === '?' ? '[^/]' : wildcard === '*' ? '[^/]*' : '.*'));
  return new RegExp(`^${source}$`);
}
