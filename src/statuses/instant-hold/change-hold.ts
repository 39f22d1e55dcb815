import { nowOf } from '../../time/clock.ts';
import type { Tx } from '../../database/database.ts';
import { ourselves } from '../../events/actor.ts';
import { appendEvents, placeOf } from '../../events/append-event.ts';
import type { AuditEvent } from '../../events/audit-event.ts';
import { cachePerService } from '../../github/cache.ts';
import { upgradeIn } from '../../github/github-error.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { fullName } from '../../installations/find-repository.ts';
import { jobs } from '../../database/queue/jobs.ts';
import { contextOf, defaultBranch, isAsWanted, isSameHold, type Wanted } from './hold.ts';
import { type HoldState, saveHold, type Stored, type Turn, rulesetName } from './hold-store.ts';
import { forgetPasses } from './pass-store.ts';
import {
  isRight,
  Limited,
  type HoldRuleset,
  type RulesetContent,
  Rulesets,
  ourContextIn,
  seenByFirstApp,
  whyRulesetRefused,
} from './ruleset.ts';
import type { StatusDeps } from '../status-deps.ts';

/** What has to be in force, and which freezes need no ruleset. */
export type HoldPlan = { wanted: Wanted | null; settled: string[]; isUndecided: boolean };

/** Whether nothing is to do, as far as our tables know. */
export const isSettled = (hold: HoldState, { wanted, settled }: HoldPlan): boolean =>
  isAsWanted(hold, wanted) &&
  (wanted === null ? isOver(hold) : hold.since !== null) &&
  hold.settled.join() === settled.join();

/** One that could not begin, or was put out of force by others, keeps its freezes: it goes on under the same context. */
const isOver = ({ freezes }: Partial<Pick<HoldState, 'freezes'>>): boolean => freezes?.length === 0;

/** Milliseconds until we try again what GitHub did not answer. */
const tryAgainAfter = 10_000;

/** The rulesets of a repository that were right, by GitHub's version of their list. @property about what they were to be. */
type Look = { about: string; version: string };
/** How many are remembered, and for how long in milliseconds. Then all of them are read again. */
const looksOf = cachePerService<bigint, Look>(10_000, 3_600_000);

/** @property observation of the caller, whose verdicts know the freezes. @property isCheck whether to ask GitHub in any case. */
type ChangeOptions = { observed?: { observation: bigint }; isCheck?: boolean };

/**
 * Changes the ruleset of a repository as planned. Never throws for GitHub: the row says what is wrong.
 * @returns whether the ruleset came in force.
 */
export const changeHold = (
  deps: StatusDeps,
  hold: HoldState,
  plan: HoldPlan,
  turn: Turn,
  given: ChangeOptions,
): Promise<boolean> => new Settling(deps, hold, plan, turn, given).run();

/** One turn at the ruleset of a repository. */
class Settling {
  readonly #deps: StatusDeps;
  readonly #hold: HoldState;
  readonly #plan: HoldPlan;
  readonly #turn: Turn;
  readonly #given: ChangeOptions;
  readonly #rulesets: Rulesets;
  #events: AuditEvent[] = [];

  constructor(deps: StatusDeps, hold: HoldState, plan: HoldPlan, turn: Turn, given: ChangeOptions) {
    this.#deps = deps;
    this.#hold = hold;
    this.#plan = plan;
    this.#turn = turn;
    this.#given = given;
    this.#rulesets = new Rulesets(deps, this.#place, async () => {
      if (!(await turn.keep(nowOf(deps.clock)))) throw new NotOurTurn();
    });
  }

  /** @returns whether the ruleset came in force. */
  async run(): Promise<boolean> {
    const { wanted, settled } = this.#plan;
    try {
      if (this.#given.isCheck) await this.#check();
      if (isSettled(this.#hold, this.#plan)) {
        if (this.#given.isCheck) await this.#save({ error: null, checkedAt: nowOf(this.#deps.clock) });
        return false;
      }
      if (wanted) return await this.#begin(wanted);
      if (this.#hold.context !== null) await this.#end();
      else if (isOver(this.#hold)) await this.#save({ settled, error: null });
      else await this.#save({ freezes: [], settled });
      return false;
    } catch (error) {
      await this.#fail(error);
      return false;
    }
  }

  get #place() {
    const { account, name, rulesetId } = this.#hold;
    return { owner: account.login, repo: name, rulesetId };
  }

  async #begin(wanted: Wanted): Promise<boolean> {
    const { settled } = this.#plan;
    const { installationId, observations, rulesetId, bypass } = this.#hold;
    const isSameBeginning =
      isAsWanted({ ...this.#hold, branches: wanted.branches }, wanted) && this.#hold.context !== null;
    const next = this.#given.observed?.observation ?? observations + 1n;
    const observation = isSameHold(this.#hold.freezes, wanted.freezes) ? this.#hold.observation : next;
    const beginning = isSameBeginning
      ? {}
      : { context: contextOf(wanted, observation), observation, freezes: wanted.freezes };
    // Else every try would write two contexts: this one, and that of the ruleset which it cannot change.
    if (this.#hold.error !== null) await this.#rulesets.reach();
    // First, because from here on it may be in force.
    await this.#save({ ...beginning, branches: wanted.branches, since: null, settled, installationId });
    const content = { isActive: true, context: this.#hold.context!, branches: wanted.branches, bypass };
    const found = await this.#rulesets.set(rulesetId, await this.#whole(content));
    await this.#save({ ...idOf(found), since: nowOf(this.#deps.clock), error: null });
    this.#log('the ruleset of an instant hold is in force', { context: this.#hold.context });
    return true;
  }

  async #end(): Promise<void> {
    const found = await this.#rulesets.set(this.#hold.rulesetId, await this.#out());
    await this.#saveOut(found);
    this.#log('the ruleset of an instant hold is out of force', {});
  }

  #saveOut(found: HoldRuleset | null): Promise<void> {
    const { settled } = this.#plan;
    const nothing = { context: null, since: null, freezes: [], branches: [] };
    return this.#save({ ...nothing, ...idOf(found), settled, error: null });
  }

  /** Compares GitHub's rulesets with what should be there, and puts right what is not. */
  async #check(): Promise<void> {
    const { repositoryId, context, branches, rulesetId, bypass, since } = this.#hold;
    const about = JSON.stringify([context, branches, since, String(rulesetId)]);
    const seen = looksOf(this.#deps);
    const last = seen.get(repositoryId);
    const look = await this.#rulesets.look(last?.about === about ? last.version : undefined);
    if (!look) return;
    seen.delete(repositoryId);
    const { named, version } = look;
    const isRightSoFar = () => this.#events.length === 0 && version !== undefined;
    const own = named.find(({ id }) => BigInt(id) === rulesetId) ?? null;
    const isInForce = context !== null && since !== null;
    for (const each of named) {
      // One without an id may be ours, from a beginning that was cut off.
      const isOurs = each === own || rulesetId === null;
      if ((isOurs && context !== null) || each.enforcement !== 'active') continue;
      await this.#rulesets.set(each.id, await this.#out());
      this.#tell({ type: 'ruleset.orphaned', metadata: ofRuleset(each) });
    }
    if (!isInForce) {
      if (context === null && isRightSoFar()) seen.set(repositoryId, { about, version: version! });
      return;
    }
    const wanted = await this.#whole({ isActive: true, context, branches, bypass });
    const found = own && (await this.#rulesets.read(own.id));
    if (found && isRight(found, wanted)) {
      if (isRightSoFar()) seen.set(repositoryId, { about, version: version! });
      return this.#save({ bypass: found.bypass_actors ?? bypass });
    }
    const set = await this.#rulesets.set(rulesetId, wanted);
    const told = found ?? set ?? { id: Number(rulesetId), name: rulesetName };
    this.#tell({
      type: 'ruleset.repaired',
      metadata: { ...ofRuleset(told), found: found ? 'changed' : 'deleted' },
    });
    await this.#save({ ...idOf(set), error: null });
  }

  /**
   * Says why the ruleset is not as it should be. If the second App can do nothing, the first one sees what is in force: it
   * goes on to let through what no freeze holds.
   */
  async #fail(error: unknown): Promise<void> {
    const { clock, log, queue } = this.#deps;
    const { rulesetId, repositoryId } = this.#hold;
    const now = nowOf(clock);
    const repository = fullName(this.#hold);
    log.warn({ err: error, repository }, 'the ruleset of an instant hold could not be changed');
    const isMissing = (await this.#deps.github.lock.id()) === null;
    const why = isMissing ? noSecondApp : whyRulesetRefused(error, clock.now(), repository);
    if (why === null) {
      const limitedUntil = error instanceof Limited ? error.until : 0;
      const at = new Date(Math.max(now.getTime() + tryAgainAfter, limitedUntil));
      await this.#save({ error: 'GitHub does not answer about the ruleset. Holdfast tries again.' });
      const { isCheck } = this.#given;
      return queue.send([jobs.settleInstantHold(repositoryId, { at, isCheck })]);
    }
    const found = this.#hold.context === null ? null : await this.#seenByFirstApp();
    if (found === undefined) return this.#save({ error: `${why} ${this.#remedy(rulesetId)}` });
    if (found !== null) {
      const context = ourContextIn(found);
      const remedy = this.#remedy(BigInt(found.id));
      // A success under another context would let through what others require.
      if (context === null)
        return this.#save({ since: null, checkedAt: now, error: `${why} ${notOurs} ${remedy}` });
      return this.#save({ context, ...idOf(found), checkedAt: now, error: `${why} ${remedy}` });
    }
    const isUnused = this.#hold.mode === 'off';
    const { wanted, settled } = this.#plan;
    // While it is wanted, with its freezes, so that a bridge knows when their statuses hold.
    const over = wanted === null ? { freezes: [], settled } : {};
    await this.#save({ context: null, since: null, ...over, error: isUnused ? null : why, checkedAt: now });
  }

  /** @returns null if no ruleset of ours is in force; undefined if nobody can say. */
  async #seenByFirstApp(): Promise<HoldRuleset | null | undefined> {
    const { installationId } = this.#hold;
    if (installationId === null) return undefined;
    return seenByFirstApp(this.#deps, installationId, this.#place).catch((error: unknown) =>
      // A plan without rulesets has none in force.
      upgradeIn(error) === null ? undefined : null,
    );
  }

  /** Which ruleset somebody has to disable. */
  #remedy(rulesetId: bigint | null): string {
    const rules = `${webUrlOf(this.#deps.config.githubApiUrl)}/${fullName(this.#hold)}/settings/rules`;
    const [named, page] = rulesetId === null ? ['', rules] : [` (${rulesetId})`, `${rules}/${rulesetId}`];
    return `The ruleset ${rulesetName}${named} is in force: if it should not be, disable it at ${page}.`;
  }

  async #whole(content: Omit<RulesetContent, 'appId'>): Promise<RulesetContent> {
    if ((await this.#deps.github.lock.id()) === null) throw new Error(noSecondApp);
    return { ...content, appId: this.#deps.config.app.id };
  }

  #out(): Promise<RulesetContent> {
    const { context, branches, bypass } = this.#hold;
    const targets = branches.length > 0 ? branches : [defaultBranch];
    return this.#whole({ isActive: false, context: context ?? 'Not frozen', branches: targets, bypass });
  }

  #tell(event: AuditEvent): void {
    this.#events.push(event);
  }

  #log(message: string, more: object): void {
    this.#deps.log.info({ repository: fullName(this.#hold), ...more }, message);
  }

  /** Saves a change with the events that wait. @throws if it is another process's turn. */
  async #save(change: Partial<Stored> & { installationId?: bigint | null; checkedAt?: Date }): Promise<void> {
    const { repositoryId, accountId } = this.#hold;
    const place = placeOf({ ...this.#hold, id: repositoryId, accountId });
    const { db, clock } = this.#deps;
    const events = this.#events.map((event) => ({ place, event }));
    this.#events = [];
    const save = async (tx: Tx) => {
      if (!(await saveHold(tx, repositoryId, this.#turn, change))) throw new NotOurTurn();
    };
    // Alone, it is one statement: many repositories are held at one instant.
    if (events.length === 0 && !isOver(change)) await save(db);
    else
      await db.$transaction(async (tx) => {
        await save(tx);
        await appendEvents(tx, events, ourselves, nowOf(clock));
        if (isOver(change)) await forgetPasses(tx, repositoryId);
      });
    Object.assign(this.#hold, change);
  }
}

/** Another process goes on with the ruleset. */
class NotOurTurn extends Error {
  constructor() {
    super('another process goes on with the ruleset');
  }
}

const notOurs = 'Somebody made or changed a ruleset with its name, which requires nothing of Holdfast.';

const noSecondApp =
  'There is no second App any more. Create one on the settings page of the owner of the first App, set LOCK_APP_ID and LOCK_PRIVATE_KEY, or set instant_hold to off.';

const ofRuleset = ({ id, name }: Pick<HoldRuleset, 'id' | 'name'>) => ({ ruleset_id: id, ruleset: name });

/** What to keep of a ruleset as GitHub has it. */
const idOf = (found: HoldRuleset | null): Partial<Stored> =>
  found
    ? { rulesetId: BigInt(found.id), ...(found.bypass_actors && { bypass: found.bypass_actors }) }
    : { rulesetId: null };
