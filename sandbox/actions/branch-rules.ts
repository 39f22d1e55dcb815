import type { Account, BypassActor, Patterns, Repository, RequiredCheck, Ruleset } from '../state/model.ts';
import { moveBranch } from '../state/activities.ts';
import { mayBypass, rulesetsOn } from '../state/branch-rules.ts';
import type { World } from '../state/world.ts';

/** A context from any source, or from the App with this id. */
export type CheckSpec = string | { context: string; app: number };

/** What a branch requires; a list is short for its checks. */
export type Protection = string[] | { checks: CheckSpec[]; enforceAdmins?: boolean; strict?: boolean };

export interface RulesetOptions {
  name?: string;
  enforcement?: Ruleset['enforcement'];
  /** Patterns of refs; default `~DEFAULT_BRANCH`. */
  include?: string[];
  exclude?: string[];
  /** Organizations only; default all. */
  repositories?: Partial<Patterns>;
  checks?: CheckSpec[];
  strict?: boolean;
  bypass?: (Pick<BypassActor, 'actor_type'> & Partial<BypassActor>)[];
}

/** What a request can set. */
export type RulesetContent = Omit<Ruleset, 'id' | 'source' | 'createdAt' | 'updatedAt'>;

const checkOf = (spec: CheckSpec): RequiredCheck =>
  typeof spec === 'string' ? { context: spec, appId: null } : { context: spec.context, appId: spec.app };

export function protectBranch({ protection }: Repository, branch: string, given: Protection): void {
  const { checks, enforceAdmins = false, strict = false } = Array.isArray(given) ? { checks: given } : given;
  if (checks.length > 0) protection.set(branch, { checks: checks.map(checkOf), enforceAdmins, strict });
  else protection.delete(branch);
}

export function makeRuleset(world: World, source: Account | Repository, given: RulesetContent): Ruleset {
  const at = world.now();
  const id = world.ids.next('ruleset', 800_000);
  const ruleset = { id, source, ...given, createdAt: at, updatedAt: at };
  source.rulesets.push(ruleset);
  return ruleset;
}

/** What branches require before something merges into them. */
export function branchRules(world: World) {
  function find(id: number): Ruleset {
    const sources = [...world.accounts.values(), ...world.repositories.values()];
    const ruleset = sources.flatMap(({ rulesets }) => rulesets).find((each) => each.id === id);
    if (!ruleset) throw new Error(`The sandbox has no ruleset ${id}`);
    return ruleset;
  }

  return {
    /** Requires status checks on a branch by classic protection; none lifts it. */
    protect(fullName: string, branch: string, protection: Protection) {
      protectBranch(world.repository(fullName), branch, protection);
    },

    /** A ruleset of an organization (`acme`) or of a repository (`acme/web`). */
    addRuleset(place: string, options: RulesetOptions = {}) {
      const source = place.includes('/') ? world.repository(place) : world.account(place);
      const { id } = makeRuleset(world, source, {
        name: options.name ?? 'Freezes',
        enforcement: options.enforcement ?? 'active',
        refs: { include: options.include ?? ['~DEFAULT_BRANCH'], exclude: options.exclude ?? [] },
        repositories: { include: ['~ALL'], exclude: [], ...options.repositories },
        checks: (options.checks ?? []).map(checkOf),
        strict: options.strict ?? false,
        bypassActors: (options.bypass ?? []).map((actor) => ({
          actor_id: null,
          bypass_mode: 'always',
          ...actor,
        })),
      });
      return { id };
    },

    setEnforcement(rulesetId: number, enforcement: Ruleset['enforcement']) {
      Object.assign(find(rulesetId), { enforcement, updatedAt: world.now() });
    },

    /** The rulesets of a repository, as they are now. */
    rulesetsOf: (fullName: string) => world.repository(fullName).rulesets.map((each) => ({ ...each })),

    /** Somebody edits a ruleset. */
    editRuleset(rulesetId: number, change: Partial<RulesetContent>) {
      Object.assign(find(rulesetId), change, { updatedAt: world.now() });
    },

    /** What answers about rulesets get wrong. */
    rulesetFaults: world.rulesetFaults,

    /**
     * Pushes a commit to a branch, as a person or as an App. Rulesets apply to pushes, too.
     * @returns why GitHub refuses the push; null if it accepts it.
     */
    pushDirectly(fullName: string, branch: string, by: { person: string } | { app: number }): string | null {
      const repository = world.repository(fullName);
      const sha = world.ids.sha();
      const person = 'person' in by ? world.account(by.person) : null;
      const passes = (ruleset: Ruleset) =>
        person
          ? mayBypass(repository, ruleset, person)
          : ruleset.bypassActors.some(
              ({ actor_type, actor_id }) =>
                actor_type === 'Integration' && 'app' in by && actor_id === by.app,
            );
      const firm = rulesetsOn(repository, branch).filter((ruleset) => !passes(ruleset));
      const [check] = firm.flatMap(({ checks }) => checks);
      if (check)
        return `Repository rule violations found: Required status check "${check.context}" is expected.`;
      moveBranch(world, repository, branch, sha, person ?? repository.owner);
      repository.commits.add(sha);
      return null;
    },

    deleteRuleset(rulesetId: number) {
      const { source } = find(rulesetId);
      source.rulesets = source.rulesets.filter(({ id }) => id !== rulesetId);
    },
  };
}
