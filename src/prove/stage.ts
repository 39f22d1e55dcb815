import type { AppManifest } from '../github/app-manifest.ts';
import type { Ask, Exchange, ProveGround, ProveJson } from './ask.ts';
import { claimProved, given, type Must, needed, said } from './verdict.ts';

/**
 * One thing that Holdfast relies on.
 * @property proves what GitHub does. @property otherwise what it means for users if GitHub does not.
 * @property costs what it costs, if it runs only when somebody asks for it.
 * @property run throws NotHeld or Unclear; anything else makes it unknown, too. A text that it returns tells how it held.
 */
export type ProveStep = Record<'name' | 'proves' | 'otherwise', string> & { costs?: string; run: Run };
type Run = (stage: Stage) => Promise<unknown>;
export type Asks = Record<string, Run>;

/**
 * @property impatientBot the App, and limits are answers. @property weakBot the App, and it may read metadata alone.
 * @property ruler who edits rulesets: the second App, or without one the owner. @property wanted what the App asks for.
 * @property tape every exchange of the step so far.
 */
export type StageParts = ProveGround &
  Record<'owner' | 'app' | 'bot' | 'impatientBot' | 'weakBot' | 'ruler', Ask> & {
    appId: number;
    wanted: Pick<AppManifest, 'default_permissions' | 'default_events'>;
    tape: Exchange[];
  };

export const context = 'holdfast/freeze';
export const environment = 'production';
/** As many as GitHub Free runs at once. */
const parts = Array.from({ length: 20 }, (_, index) => index + 1);
/** What the job of each workflow says. */
const workflows = {
  deploy: `environment: ${environment}`,
  matrix: `environment: ${environment}, strategy: { matrix: { part: [${parts.join(', ')}] } }`,
  careless: `environment: { name: ${environment}, deployment: false }`,
};

/** By this description, and not by the name alone, `--clean` recognises the repositories of a run. */
export const markOf = (run: string): string =>
  `Made by holdfast prove (${run}), which deletes it. Nothing in it is needed.`;

export type StagePullRequest = { path: string; number: number; sha: string; head: string; nodeId: string };
type Rule = { include: string; bypass?: ProveJson[]; enforcement?: string; more?: ProveJson[] };
type Judge = (exchange: Exchange) => boolean | Promise<boolean>;
type Meant = (payload: ProveJson) => boolean;
type Merging = 'merged' | 'blocked' | 'other';

const isMerged = ({ answer }: Exchange): boolean => answer?.merged === true;

/** What the merge button did. `blocked`: by the check; `other`: GitHub says something else. */
const mergingOf = (exchange: Exchange): Merging => {
  if (exchange.status === 200 && isMerged(exchange)) return 'merged';
  return exchange.status === 405 && String(exchange.answer?.message).includes(context) ? 'blocked' : 'other';
};

/**
 * The repository of a run, and what steps do in it. Each step has branches and pull requests of its own, so that none
 * depends on another.
 */
export class Stage {
  readonly parts: StageParts;
  /** The repository of the run, as a path of the API. */
  readonly repository: string;

  constructor(parts: StageParts) {
    this.parts = parts;
    this.repository = `/repos/${parts.organization}/${parts.run}`;
  }

  /** Makes the repository, with the rule that blocks: each step merges into a branch `trunk-…` of its own. */
  async build(): Promise<void> {
    await this.makeRepository('');
    for (const [name, job] of Object.entries(workflows)) {
      const jobs = `{ deploy: { runs-on: ubuntu-latest, ${job}, steps: [{ run: echo deployed }] } }`;
      const text = `name: ${name}\non: workflow_dispatch\njobs: ${jobs}\n`;
      await this.commit('main', `.github/workflows/${name}.yml`, text);
    }
    await this.requireCheck(this.repository, { include: 'refs/heads/trunk-*' });
    const place = `${this.repository}/environments/${environment}`;
    const rule = { integration_id: this.parts.appId };
    await this.parts.owner('PUT', place, {});
    // Some plans have no such rules. Then only the steps about them are unknown.
    await this.parts.owner('POST', `${place}/deployment_protection_rules`, rule);
  }

  /** Asks as the owner for what a step needs. @throws Unclear unless GitHub does it. */
  sure = async (method: string, path: string, sent?: ProveJson): Promise<ProveJson> =>
    needed(await this.parts.owner(method, path, sent));

  /** The commit at the tip of a branch. */
  tip = async (repository: string, branch = 'main'): Promise<string> =>
    (await this.sure('GET', `${repository}/branches/${branch}`)).commit.sha;

  /** Makes a repository that carries the mark. @returns its path. */
  async makeRepository(suffix: string, isPrivate = false): Promise<string> {
    const { organization, run } = this.parts;
    const more = { private: isPrivate, auto_init: true, allow_auto_merge: true };
    const sent = { name: run + suffix, description: markOf(run), ...more };
    await this.sure('POST', `/orgs/${organization}/repos`, sent);
    return `/repos/${organization}/${run}${suffix}`;
  }

  /** Requires Holdfast's check from the App. @returns the ruleset. */
  async requireCheck(repository: string, rule: Rule): Promise<ProveJson> {
    const { include, bypass = [], enforcement = 'active', more = [] } = rule;
    const parameters = {
      strict_required_status_checks_policy: false,
      do_not_enforce_on_create: true,
      required_status_checks: [{ context, integration_id: this.parts.appId }],
    };
    return this.sure('POST', `${repository}/rulesets`, {
      name: `${this.parts.run} ${include}`,
      target: 'branch',
      enforcement,
      bypass_actors: bypass,
      conditions: { ref_name: { include: [include], exclude: [] } },
      rules: [{ type: 'required_status_checks', parameters }, ...more],
    });
  }

  async commit(branch: string, path: string, text: string): Promise<void> {
    const sent = { message: `Write ${path}`, content: Buffer.from(text).toString('base64'), branch };
    await this.sure('PUT', `${this.repository}/contents/${path}`, sent);
  }

  /** A branch from the tip of another one. */
  async branch(name: string, from = 'main'): Promise<void> {
    const sent = { ref: `refs/heads/${name}`, sha: await this.tip(this.repository, from) };
    await this.sure('POST', `${this.repository}/git/refs`, sent);
  }

  /** Opens a pull request with a commit of its own. @param base a branch that is there, by default a new `trunk-NAME`. */
  async open(name: string, base?: string): Promise<StagePullRequest> {
    const into = base ?? `trunk-${name}`;
    if (base === undefined) await this.branch(into);
    await this.branch(`work-${name}`, into);
    await this.commit(`work-${name}`, `${name}.md`, `${name}\n`);
    return this.openFrom(`work-${name}`, into);
  }

  /** The same, with a status of its head. */
  async openWith(state: string, name: string, base?: string): Promise<StagePullRequest> {
    const pr = await this.open(name, base);
    await this.post(pr.sha, state);
    return pr;
  }

  async openFrom(head: string, base: string): Promise<StagePullRequest> {
    const sent = { title: `${head} into ${base}`, head, base };
    const made = await this.sure('POST', `${this.repository}/pulls`, sent);
    const path = `${this.repository}/pulls/${made.number}`;
    // GitHub looks in the background whether it can be merged, and refuses to merge it before.
    const isJudged = ({ answer }: Exchange) => typeof answer?.mergeable === 'boolean';
    const shown = needed(await this.until(60, () => this.parts.owner('GET', path), isJudged));
    given(shown.mergeable === true, `GitHub does not say that ${path} can be merged.`);
    return { path, number: made.number, nodeId: made.node_id, head, sha: shown.head.sha };
  }

  /** Presses the merge button. A status may take a moment, so it presses again while the answer is not the expected one. */
  merge({ path }: StagePullRequest, expected: Merging): Promise<Exchange> {
    const isSo = (each: Exchange) => [expected, 'merged'].includes(mergingOf(each));
    return this.until(60, () => this.parts.owner('PUT', `${path}/merge`, {}), isSo);
  }

  /** Posts the status of Holdfast as the App. */
  tryPost = (sha: string, state: string, description: string): Promise<Exchange> =>
    this.parts.bot('POST', `${this.repository}/statuses/${sha}`, { state, context, description });

  /** The same, for a step that needs it. @returns the status. */
  post = async (sha: string, state: string): Promise<ProveJson> =>
    needed(await this.tryPost(sha, state, `Proved: ${state}`));

  /** Asks every second until it is so, or until it is too late. @returns the last exchange, which alone is kept. */
  async until(seconds: number, ask: () => Promise<Exchange>, isSo: Judge): Promise<Exchange> {
    const { world, stop, tape } = this.parts;
    const latest = world.now() + seconds * 1000;
    for (;;) {
      const kept = tape.length;
      const exchange = await ask();
      if ((await isSo(exchange)) || world.now() >= latest || exchange.status === 404) return exchange;
      tape.length = kept;
      await world.delay(1000, stop);
    }
  }

  /** Claims that GitHub merges it, or refuses to because of the check. */
  async claimThat(expected: Merging, pr: StagePullRequest): Promise<void> {
    const last = await this.merge(pr, expected);
    const is = mergingOf(last);
    given(is !== 'other', said(last));
    claimProved(is === expected, `It is ${is}: ${said(last)}`);
  }

  /** Claims that something else merges it. */
  async claimMergedByItself({ path }: StagePullRequest): Promise<void> {
    const last = await this.until(120, () => this.parts.owner('GET', path), isMerged);
    claimProved(needed(last).merged, 'It was not merged within two minutes.');
  }

  /** Waits for a webhook: GitHub lists those that nobody could receive, too. @returns its payload. @throws as `must` does. */
  async told(event: string, action: string, isMeant: Meant, must: Must = claimProved): Promise<ProveJson> {
    const { tape, app, run } = this.parts;
    const [seen, before] = [new Set<number>(), tape.length];
    let payload: ProveJson = null;
    const list = () => app('GET', '/app/hook/deliveries?per_page=100');
    await this.until(90, list, async (listed) => {
      for (const { id, ...told } of needed(listed)) {
        if (told.event !== event || told.action !== action || seen.has(id)) continue;
        seen.add(id);
        const its = (await app('GET', `/app/hook/deliveries/${id}`)).answer?.request?.payload;
        // The App may have been told of former runs, too.
        if (its?.repository?.name === run && isMeant(its)) return (payload = its) !== null;
      }
      return false;
    });
    must(payload, `No webhook ${event} told of it.`);
    // The list differs from run to run.
    tape.splice(before, tape.length - before - 1);
    return payload;
  }

  /** Asks GraphQL about a pull request as the owner. @returns its `data`. */
  async graphql(query: string, { nodeId: id }: StagePullRequest): Promise<ProveJson> {
    const { data, errors } = await this.sure('POST', '/graphql', { query, variables: { id } });
    given(!errors, `GraphQL answered: ${errors?.[0]?.message}`);
    return data;
  }
}
