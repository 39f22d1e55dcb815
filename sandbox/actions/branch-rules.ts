import type { Account, BypassActor, Patterns, Repository, RequiredCheck, Ruleset } from '../state/model.ts';
import { moveBranch } from '../state/activities.ts';
import { mayBypass, rulesetsOn } from '../state/branch-rules.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { organizationJson } from '../json/account-json.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { ownerSender } from './sender.ts';

/** A context from any source, or from the App with this id. */
export type CheckSpec = string | { context: string; app: number };

/** What a branch requires; a list is short for its checks, and an empty one lifts the protection. */
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
  if (Array.isArray(given) && checks.length === 0) protection.delete(branch);
  else protection.set(branch, { checks: checks.map(checkOf), enforceAdmins, strict });
}

export function makeRuleset(world: World, source: Account | Repository, given: RulesetContent): Ruleset {
  const at = world.now();
  const id = world.ids.next('ruleset', 800_000);
  const ruleset = { id, source, ...given, createdAt: at, updatedAt: at };
  source.rulesets.push(ruleset);
  return ruleset;
}

/** Tells Apps that subscribe to it, which takes Administration: read. That of an organization names no repository. */
export function tellRuleset(
  world: World,
  webhooks: Webhooks,
  action: 'created' | 'edited' | 'deleted',
  { id, name, enforcement, source }: Ruleset,
): void {
  const owned = 'owner' in source ? fullNameOf(source) : source.login;
  const payload = { repository_ruleset: { id, name, enforcement, target: 'branch', source: owned } };
  const event = { event: 'repository_ruleset', action } as const;
  if ('owner' in source) {
    const sender = ownerSender(world, source.owner);
    webhooks.emit({ ...event, sender, repository: source, payload });
    return;
  }
  const installation = [...world.installations.values()].find(({ account }) => account === source);
  const sender = ownerSender(world, source);
  webhooks.emit({
    ...{ ...event, sender, installation },
    payload: { ...payload, organization: organizationJson(world, source) },
  });
}

/** What branches require before something merges into them. */
export function branchRules(world: World, webhooks: Webhooks) {
  function find(id: number): Ruleset {
    const sources = [...world.accounts.values(), ...world.repositories.values()];
    const ruleset = sources.flatMap(({ rulesets }) => rulesets).find((each) => each.id === id);
    if (!ruleset) throw new Error(`The sandbox has no ruleset ${id}`);
    return ruleset;
  }

  function edit(rulesetId: number, change: Partial<RulesetContent>): void {
    const ruleset = find(rulesetId);
    Object.assign(ruleset, change, { updatedAt: world.now() });
    tellRuleset(world, webhooks, 'edited', ruleset);
  }

  return {
    /** Requires status checks on a branch by classic protection; none lifts it. */
    protect(fullName: string, branch: string, protection: Protection) {
      const repository = world.repository(fullName);
      protectBranch(repository, branch, protection);
      webhooks.emit({
        ...{ event: 'branch_protection_rule', action: 'edited', repository },
        sender: ownerSender(world, repository.owner),
        payload: { rule: { name: branch } },
      });
    },

    /** A ruleset of an organization (`acme`) or of a repository (`acme/web`). */
    addRuleset(place: string, options: RulesetOptions = {}) {
      const source = place.includes('/') ? world.repository(place) : world.account(place);
      const made = makeRuleset(world, source, {
        name: options.name ?? 'Freezes',
        enforcement: options.enforcement ?? 'active',
        refs: { include: options.include ?? ['~DEFAULT_BRANCH'], exclude: options.exclude ?? [] },
        repositories: { include: ['~ALL'], exclude: [], ...options.repositories },
        checks: (options.checks ?? []).map(checkOf),
        strict: options.strict ?? false,
        otherRules: [],
        bypassActors: (options.bypass ?? []).map((actor) => ({
          actor_id: null,
          bypass_mode: 'always',
          ...actor,
        })),
      });
      tellRuleset(world, webhooks, 'created', made);
      return { id: made.id };
    },

    setEnforcement: (rulesetId: number, enforcement: Ruleset['enforcement']) =>
      edit(rulesetId, { enforcement }),

    /** The rulesets of a repository, as they are now. */
    rulesetsOf: (fullName: string) => world.repository(fullName).rulesets.map((each) => ({ ...each })),

    /** Somebody edits a ruleset. */
    editRuleset: edit,

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
      const ruleset = find(rulesetId);
      const { source } = ruleset;
      tellRuleset(world, webhooks, 'deleted', ruleset);
      source.rulesets = source.rulesets.filter(({ id }) => id !== rulesetId);
    },
  };
}
