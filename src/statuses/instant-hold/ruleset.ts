import type { GitHubClient } from '../../github/github-app.ts';
import { cachePerService } from '../../github/cache.ts';
import { classifyGitHubError, isGitHubStatus, wordsOfGitHub } from '../../github/github-error.ts';
import { isOurContext, isSameHold } from './hold.ts';
import type { StatusDeps } from '../status-deps.ts';
import { rulesetName } from './hold-store.ts';

/** Milliseconds for an answer about a ruleset. Statuses must not wait for longer. */
const rulesetPatience = 5000;

/** Where: a repository, and the id of our ruleset there; null if it was not made yet. */
type RulesetPlace = { owner: string; repo: string; rulesetId: bigint | null };

/** What our ruleset should be. @property appId the first App, whose statuses alone count. */
export type RulesetContent = {
  isActive: boolean;
  context: string;
  branches: string[];
  appId: number;
  bypass: unknown[];
};

/** A ruleset at GitHub. */
export type HoldRuleset = {
  id: number;
  name: string;
  enforcement: string;
  conditions?: { ref_name?: { include?: string[]; exclude?: string[] } };
  rules?: {
    type: string;
    parameters?: { required_status_checks?: { context: string; integration_id?: number }[] };
  }[];
  bypass_actors?: unknown[];
  updated_at?: string;
};

/** Milliseconds. GitHub's times have whole seconds, and their clock may differ: a later change may have the same time. */
const sameSecond = 5_000;

const refOf = (branch: string): string => (branch.startsWith('~') ? branch : `refs/heads/${branch}`);

const bodyOf = ({ isActive, context, branches, appId, bypass }: RulesetContent) => ({
  name: rulesetName,
  target: 'branch',
  enforcement: isActive ? 'active' : 'disabled',
  bypass_actors: bypass,
  conditions: { ref_name: { include: branches.map(refOf), exclude: [] } },
  rules: [
    {
      type: 'required_status_checks',
      parameters: {
        strict_required_status_checks_policy: false,
        do_not_enforce_on_create: true,
        required_status_checks: [{ context, integration_id: appId }],
      },
    },
  ],
});

/** The checks that a ruleset requires. */
const checksOf = ({ rules = [] }: HoldRuleset) =>
  rules.flatMap(({ parameters }) => parameters?.required_status_checks ?? []);

/** The context of ours that a ruleset requires; null if there is none: somebody made or changed it. */
export const ourContextIn = (ruleset: HoldRuleset): string | null =>
  checksOf(ruleset).find(({ context }) => isOurContext(context))?.context ?? null;

/** Whether a ruleset is as it should be. Of one that should be out of force, nothing else counts. */
export function isRight(ruleset: HoldRuleset, wanted: RulesetContent): boolean {
  if (!wanted.isActive) return ruleset.enforcement !== 'active';
  const { include = [], exclude = [] } = ruleset.conditions?.ref_name ?? {};
  const [check, ...others] = checksOf(ruleset);
  return (
    ruleset.enforcement === 'active' &&
    (ruleset.rules ?? []).length === 1 &&
    check?.context === wanted.context &&
    check.integration_id === wanted.appId &&
    others.length === 0 &&
    isSameHold(include, wanted.branches.map(refOf)) &&
    exclude.length === 0
  );
}

const listRulesets = 'GET /repos/{owner}/{repo}/rulesets';
const ofRepositoryAlone = { per_page: 100, includes_parents: false };
const readRuleset = 'GET /repos/{owner}/{repo}/rulesets/{id}';

/** GitHub accepted a change of the ruleset and did not make it. */
class NotApplied extends Error {}

/** GitHub limits the second App on an account. We must ask nothing before an instant, in milliseconds since the epoch. */
export class Limited extends Error {
  readonly until: number;

  constructor(until: number) {
    super(`GitHub limits the second App until ${new Date(until).toISOString()}`);
    this.until = until;
  }
}

/** Until when, by account. A limit counts for all of its repositories. */
const limitsOf = cachePerService<string, Limited>(1000, 3_600_000);

/** Rulesets of a repository, as the second App. Each call asks first whether it may go on. */
export class Rulesets {
  readonly #deps: Pick<StatusDeps, 'github' | 'clock'>;
  readonly #place: { owner: string; repo: string };
  readonly #keep: () => Promise<void>;

  /** @param keep is called before each request; it throws if another process goes on. */
  constructor(
    deps: Pick<StatusDeps, 'github' | 'clock'>,
    { owner, repo }: RulesetPlace,
    keep: () => Promise<void>,
  ) {
    this.#deps = deps;
    this.#place = { owner, repo };
    this.#keep = keep;
  }

  /**
   * Those with our name, and the version of the answer, if a later change must have another one: the list has no rules,
   * but the time of the last change.
   * @param known a version: GitHub counts no request if nothing changed since. @returns null then.
   * @throws GitHub's error.
   */
  async look(known?: string): Promise<{ named: HoldRuleset[]; version: string | undefined } | null> {
    const headers = known === undefined ? {} : { 'if-none-match': known };
    try {
      const { data, headers: answered } = await this.#ask<HoldRuleset[]>(listRulesets, {
        ...ofRepositoryAlone,
        headers,
      });
      const named = data.filter(({ name }) => name === rulesetName);
      const before = this.#deps.clock.now() - sameSecond;
      const isOld = named.every(({ updated_at: at = '' }) => Date.parse(at) < before);
      return { named, version: isOld ? answered.etag : undefined };
    } catch (error) {
      if (isGitHubStatus(error, 304)) return null;
      throw error;
    }
  }

  async #named(): Promise<HoldRuleset[]> {
    return (await this.look())!.named;
  }

  /** @returns null if there is no such ruleset. @throws GitHub's error. */
  async read(id: bigint | number): Promise<HoldRuleset | null> {
    try {
      return (await this.#ask<HoldRuleset>(readRuleset, { id: Number(id) })).data;
    } catch (error) {
      if (!isGitHubStatus(error, 404)) throw error;
      // If we can list rulesets, this one is gone. Otherwise, we see nothing there.
      await this.#named();
      return null;
    }
  }

  /**
   * Makes or changes the ruleset, and reads it back: a change that did nothing is a failure.
   * @returns as it is now; null if it is gone and should be out of force.
   * @throws NotApplied; GitHub's error.
   */
  async set(id: bigint | number | null, wanted: RulesetContent): Promise<HoldRuleset | null> {
    let changed = await this.#write(id, wanted);
    // GitHub's answers may be some moments old, so one that is wrong is tried again.
    for (const isLast of [false, true]) {
      if (!changed) return null;
      const found = await this.read(changed.id);
      if (found ? isRight(found, wanted) : !wanted.isActive) return found;
      if (!isLast) changed = await this.#write(changed.id, wanted);
    }
    throw new NotApplied('GitHub accepted the change of the ruleset, but shows it as it was before');
  }

  async #write(id: bigint | number | null, wanted: RulesetContent): Promise<HoldRuleset | null> {
    const change = async (of: bigint | number, content = wanted) => {
      const body = { id: Number(of), ...bodyOf(content) };
      return (await this.#ask<HoldRuleset>('PUT /repos/{owner}/{repo}/rulesets/{id}', body)).data;
    };
    if (id !== null) {
      try {
        return await change(id);
      } catch (error) {
        if (!isGitHubStatus(error, 404)) throw error;
      }
    }
    // One that we made before we could save its id, or that somebody made by hand.
    const [own] = await this.#named();
    if (own) {
      const bypass = (await this.read(own.id))?.bypass_actors ?? [];
      return change(own.id, bypass.length > 0 ? { ...wanted, bypass } : wanted);
    }
    if (!wanted.isActive) return null;
    return (await this.#ask<HoldRuleset>('POST /repos/{owner}/{repo}/rulesets', bodyOf(wanted))).data;
  }

  /** @throws GitHub's error if the second App is not installed there. It costs no request while it is. */
  async reach(): Promise<void> {
    await this.#asLock(() => Promise.resolve());
  }

  #ask<Data>(route: string, parameters: object): Promise<GitHubResponse<Data>> {
    return this.#asLock((client) => request<Data>(client, route, { ...this.#place, ...parameters }));
  }

  async #asLock<Found>(act: (client: GitHubClient) => Promise<Found>): Promise<Found> {
    await this.#keep();
    const { owner, repo } = this.#place;
    const { clock, github } = this.#deps;
    const limits = limitsOf(this.#deps);
    const limit = limits.get(owner);
    if (limit && limit.until > clock.now()) throw limit;
    try {
      return await github.lock.asLock(owner, repo, async (client) => {
        await this.#keep();
        return act(client);
      });
    } catch (error) {
      const failure = classifyGitHubError(error, clock.now());
      if (failure.kind !== 'limited') throw error;
      const limited = new Limited(failure.retryAt);
      limits.set(owner, limited);
      throw limited;
    }
  }
}

type GitHubResponse<Data> = { data: Data; headers: { etag?: string } };

function request<Data>(
  client: GitHubClient,
  route: string,
  parameters: object,
): Promise<GitHubResponse<Data>> {
  const signal = AbortSignal.timeout(rulesetPatience);
  return client.request(route, { ...parameters, request: { signal } });
}

/** Of rulesets with our name, how many the first App reads. */
const mostNamesakes = 5;

/**
 * A ruleset in force with our name as the first App sees it, because the second one can do nothing. One that requires a
 * context of ours comes first: anybody can make one with our name.
 * @returns null if none is in force. @throws GitHub's error.
 */
export async function seenByFirstApp(
  { github }: Pick<StatusDeps, 'github'>,
  installationId: bigint,
  { owner, repo }: RulesetPlace,
): Promise<HoldRuleset | null> {
  const client = await github.asInstallation(installationId);
  const place = { owner, repo };
  const { data: all } = await request<HoldRuleset[]>(client, listRulesets, {
    ...place,
    ...ofRepositoryAlone,
  });
  const named = all.filter(({ name, enforcement }) => name === rulesetName && enforcement === 'active');
  const found: HoldRuleset[] = [];
  for (const { id } of named.slice(0, mostNamesakes)) {
    const { data } = await request<HoldRuleset>(client, readRuleset, { ...place, id });
    if (ourContextIn(data) !== null) return data;
    found.push(data);
  }
  return found[0] ?? null;
}

/**
 * Why the second App can do nothing in a repository, and what to do, in one sentence; null if GitHub is down or limits us,
 * so that we only have to try again.
 */
export function whyRulesetRefused(error: unknown, now: number, repository: string): string | null {
  if (error instanceof NotApplied) return `${error.message}. Holdfast tries again within a minute.`;
  if (isGitHubStatus(error, 401, 404) && /integration not found|json web token/i.test(error.message))
    return appIsGone;
  const failure = classifyGitHubError(error, now);
  switch (failure.kind) {
    case 'absent':
      return `The second App is not installed on ${repository}. Install it there, or set instant_hold to off.`;
    case 'forbidden':
      if (failure.upgrade) return `GitHub has no rulesets for ${repository}: ${failure.upgrade}`;
      return `GitHub does not let the second App change rulesets of ${repository}: ${wordsIn(failure)}. It needs ${capitalized(failure.permission ?? 'administration: write')}.`;
    case 'invalid':
      return `GitHub refuses the ruleset of ${repository}: ${wordsIn(failure)}.`;
    default:
      return null;
  }
}

const appIsGone =
  'GitHub does not know the second App: somebody deleted it or its key. Forget it on the settings page of its owner and create another one, or change LOCK_APP_ID and LOCK_PRIVATE_KEY.';

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** GitHub's words, inside a sentence. */
const wordsIn = ({ message }: { message: string }): string => wordsOfGitHub(message).replace(/\.$/, '');
