import type { AppManifest } from '../github/app-manifest.ts';
import type { Ask, Exchange, Ground, Json } from './ask.ts';
import { claim, given, needed, said } from './verdict.ts';

/** One thing that Holdfast relies on. */
export type Step = {
  name: string;
  /** What GitHub does. */
  proves: string;
  /** What it means for users if GitHub does not. */
  otherwise: string;
  /** What it costs, if it runs only when somebody asks for it. */
  costs?: string;
  /** @throws NotHeld; Unclear; anything else makes it unknown, too. */
  run(stage: Stage): Promise<void>;
};

export type Steps = Record<string, Omit<Step, 'name'>>;

export type StageParts = Ground & {
  owner: Ask;
  app: Ask;
  bot: Ask;
  /** The App, and limits are answers. */
  impatientBot: Ask;
  /** Who edits rulesets: the second App, or without one the owner. */
  ruler: Ask;
  /** The App with these permissions alone. */
  botWith(permissions: Record<string, string>): Promise<Ask>;
  appId: number;
  /** What the App asks for. */
  wanted: Pick<AppManifest, 'default_permissions' | 'default_events'>;
  /** Every exchange of the step so far. */
  tape: Exchange[];
};

export const context = 'holdfast/freeze';
export const environment = 'production';
export const workflow = 'deploy.yml';
const workflowText = `name: Deploy
on: workflow_dispatch
jobs: { deploy: { runs-on: ubuntu-latest, environment: ${environment}, steps: [{ run: echo deployed }] } }
`;

/** By this description, and not by the name alone, `--clean` recognises the repositories of a run. */
export const markOf = (run: string): string =>
  `Made by holdfast prove (${run}), which deletes it. Nothing in it is needed.`;

export type PullRequest = { path: string; number: number; sha: string; head: string; nodeId: string };
type Rule = { include: string; bypass?: Json[]; enforcement?: string; more?: Json[] };
type Judge = (exchange: Exchange) => boolean | Promise<boolean>;
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
    await this.commit('main', `.github/workflows/${workflow}`, workflowText);
    await this.requireCheck(this.repository, { include: 'refs/heads/trunk-*' });
  }

  /** Makes a repository that carries the mark. @returns its path. */
  async makeRepository(suffix: string, isPrivate = false): Promise<string> {
    const { owner, organization, run } = this.parts;
    const more = { private: isPrivate, auto_init: true, allow_auto_merge: true };
    const sent = { name: run + suffix, description: markOf(run), ...more };
    needed(await owner('POST', `/orgs/${organization}/repos`, sent), 201);
    return `/repos/${organization}/${run}${suffix}`;
  }

  /** Requires Holdfast's check from the App. @returns the ruleset. */
  async requireCheck(repository: string, rule: Rule): Promise<Json> {
    const { include, bypass = [], enforcement = 'active', more = [] } = rule;
    const parameters = {
      strict_required_status_checks_policy: false,
      do_not_enforce_on_create: true,
      required_status_checks: [{ context, integration_id: this.parts.appId }],
    };
    const made = await this.parts.owner('POST', `${repository}/rulesets`, {
      name: `${this.parts.run} ${include}`,
      target: 'branch',
      enforcement,
      bypass_actors: bypass,
      conditions: { ref_name: { include: [include], exclude: [] } },
      rules: [{ type: 'required_status_checks', parameters }, ...more],
    });
    return needed(made, 201);
  }

  async commit(branch: string, path: string, text: string): Promise<void> {
    const sent = { message: `Write ${path}`, content: Buffer.from(text).toString('base64'), branch };
    needed(await this.parts.owner('PUT', `${this.repository}/contents/${path}`, sent), 201);
  }

  /** A branch from the tip of another one. */
  async branch(name: string, from = 'main'): Promise<void> {
    const { sha } = needed(await this.parts.owner('GET', `${this.repository}/branches/${from}`), 200).commit;
    const sent = { ref: `refs/heads/${name}`, sha };
    needed(await this.parts.owner('POST', `${this.repository}/git/refs`, sent), 201);
  }

  /** Opens a pull request with a commit of its own. @param base a branch that is there, by default a new `trunk-NAME`. */
  async open(name: string, base?: string): Promise<PullRequest> {
    const into = base ?? `trunk-${name}`;
    if (base === undefined) await this.branch(into);
    await this.branch(`work-${name}`, into);
    await this.commit(`work-${name}`, `${name}.md`, `${name}\n`);
    return this.openFrom(`work-${name}`, into);
  }

  /** The same, with a status of its head. */
  async openWith(state: string, name: string, base?: string): Promise<PullRequest> {
    const pr = await this.open(name, base);
    await this.post(pr.sha, state);
    return pr;
  }

  async openFrom(head: string, base: string): Promise<PullRequest> {
    const sent = { title: `${head} into ${base}`, head, base };
    const made = needed(await this.parts.owner('POST', `${this.repository}/pulls`, sent), 201);
    const path = `${this.repository}/pulls/${made.number}`;
    // GitHub looks in the background whether it can be merged, and refuses to merge it before.
    const isJudged = ({ answer }: Exchange) => typeof answer?.mergeable === 'boolean';
    const shown = needed(await this.until(60, () => this.parts.owner('GET', path), isJudged), 200);
    given(shown.mergeable === true, `GitHub does not say that ${path} can be merged.`);
    return { path, number: made.number, nodeId: made.node_id, head, sha: shown.head.sha };
  }

  /** Posts the status of Holdfast as the App. */
  tryPost(sha: string, state: string, description: string): Promise<Exchange> {
    return this.parts.bot('POST', `${this.repository}/statuses/${sha}`, { state, context, description });
  }

  /** The same, for a step that needs it. @returns the status. */
  async post(sha: string, state: string): Promise<Json> {
    return needed(await this.tryPost(sha, state, `Proved: ${state}`), 201);
  }

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

  /** Presses the merge button. A status may take a moment, so it presses again while the answer is not the expected one. */
  async merge({ path }: PullRequest, expected: Merging): Promise<{ is: Merging; exchange: Exchange }> {
    const isSo = (each: Exchange) => [expected, 'merged'].includes(mergingOf(each));
    const exchange = await this.until(60, () => this.parts.owner('PUT', `${path}/merge`, {}), isSo);
    return { is: mergingOf(exchange), exchange };
  }

  /** Claims that GitHub merges it, or refuses to because of the check. */
  async claimThat(is: Merging, pr: PullRequest): Promise<void> {
    const merging = await this.merge(pr, is);
    given(merging.is !== 'other', said(merging.exchange));
    claim(merging.is === is, `It is ${merging.is}: ${said(merging.exchange)}`);
  }

  /** Claims that something else merges it. */
  async claimMergedByItself({ path }: PullRequest): Promise<void> {
    const last = await this.until(120, () => this.parts.owner('GET', path), isMerged);
    claim(needed(last, 200).merged, 'It was not merged within two minutes.');
  }

  /** Waits for a webhook: GitHub lists those that nobody could receive, too. @returns its payload; null if none came. */
  async delivered(event: string, action: string, isMeant: (payload: Json) => boolean): Promise<Json | null> {
    const seen = new Set<number>();
    let payload: Json = null;
    const { tape } = this.parts;
    const before = tape.length;
    const list = () => this.parts.app('GET', '/app/hook/deliveries?per_page=100');
    await this.until(90, list, async (listed) => {
      for (const { id, event: of, action: does } of needed(listed, 200)) {
        if (of !== event || does !== action || seen.has(id)) continue;
        seen.add(id);
        const { answer } = await this.parts.app('GET', `/app/hook/deliveries/${id}`);
        const its = answer?.request?.payload;
        // The App may have been told of former runs, too.
        if (its?.repository?.name === this.parts.run && isMeant(its)) return (payload = its) !== null;
      }
      return false;
    });
    // The list differs from run to run.
    if (payload) tape.splice(before, tape.length - before - 1);
    return payload;
  }

  /** Asks GraphQL about a pull request as the owner. @returns its `data`. */
  async graphql(query: string, { nodeId: id }: PullRequest): Promise<Json> {
    const exchange = await this.parts.owner('POST', '/graphql', { query, variables: { id } });
    const { data, errors } = needed(exchange, 200);
    given(!errors, `GraphQL answered: ${errors?.[0]?.message}`);
    return data;
  }
}
