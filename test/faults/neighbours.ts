import { Random } from '../../sandbox/http/random.ts';
import { ApiClient } from './api-client.ts';
import { freezeActions, freezesOf, say } from './actions/freezes.ts';
import { pullRequestActions } from './actions/pull-requests.ts';
import { bases } from './conditions.ts';
import { Model } from './model.ts';
import { type Action, oneOf, openOnes, type Stage } from './stage.ts';

/** How many pull requests of each are open at most. Those of the same installation share its pace. */
export const mostOpenNextDoor = 4;

/** Often there is nothing to do with what was drawn. */
const mostTries = 5;

/** In the installation of the run: strangers push to it from forks, and a team has the role that freezes it. */
const nextDoor = 'acme/pub';
/** Of another owner. */
const elsewhere = 'bravo/site';
/** Of that owner, private and on GitHub Free: statuses are right, and nothing enforces them. */
const unenforced = 'bravo/secret';
/** Read-only: nobody can write to it. */
const archived = 'acme/old';

/** Who asks for what they have no right to. */
type Intruder = { name: string; api: ApiClient };

/**
 * Who else lives in the world of a run. Each neighbour is a stage of its own, with a model of its own, so that whatever
 * is checked of the repository of the run is checked of theirs.
 */
export class Neighbours {
  readonly stages: Stage[] = [];
  readonly #intruders: Intruder[] = [];
  /** The slug of the team whose members freeze `acme/pub`. It changes. */
  #team = 'release';

  /** Before the App is installed on acme: people, bots and repositories. */
  settle({ github }: Pick<Stage, 'github'>): void {
    const protect = Object.fromEntries(bases.map((base) => [base, ['holdfast/freeze']]));
    for (const name of ['tess', 'remy', 'bea', 'eve']) github.addUser(name);
    github.addBot('dependabot');
    for (const name of ['tess', 'remy']) github.setMembership('acme', name, 'member');
    github.addTeam('acme', this.#team, ['tess']);
    github.addOrganization('bravo', { admins: ['bea'], plan: 'free' });
    github.addRepository(nextDoor, { protect, roles: { tess: 'write' } });
    github.addRepository(elsewhere, { protect });
    github.addRepository(unenforced, { protect, private: true });
    github.addRepository(archived, { protect });
    for (const name of [nextDoor, elsewhere]) github.openPullRequest(name, { author: 'eve', fork: true });
    github.openPullRequest(unenforced, { author: 'bea' });
    github.openPullRequest(archived, { author: 'ada' });
    github.archive(archived);
    github.install('bravo');
  }

  /** Once the App knows them: the rights that they have, and what they ask with. */
  async moveIn(stage: Stage, seed: number): Promise<void> {
    const { github, api } = stage;
    const clientOf = (admin: string, ci = admin) => {
      const client = new ApiClient(stage.fleet.webs, seed + this.stages.length + this.#intruders.length);
      Object.assign(client.keys, { admin, ci });
      return client;
    };
    for (const name of [nextDoor, elsewhere, unenforced])
      await github.waitForStatus(name, 1, 'success', { timeoutMs: 120_000 });
    const bea = clientOf(github.addToken('bea'));
    const key = async (scope: string): Promise<string> =>
      (await bea.call('POST', '/v1/applications/bravo', { name: 'neighbour', scope })).body.secret;
    const bravo = await key('admin');
    const ci = await key('ci');
    const path = `/v1/repos/${nextDoor}/settings`;
    const answer = await api.call('PATCH', path, { freezers: [`@acme/${this.#team}`] });
    if (answer.status !== 200) stage.violate('unexpected answer', `to freezers: ${say(answer)}`);
    const lives = (repository: string, client: ApiClient) =>
      this.stages.push({
        ...{ ...stage, repository, api: client, model: new Model(), instantHold: null, neighbours: null },
        log: (what) => stage.log(`${repository}: ${what}`),
        violate: (kind, what) => stage.violate(kind, `${repository}: ${what}`),
      });
    lives(nextDoor, clientOf(github.addToken('tess'), api.keys.ci));
    lives(elsewhere, clientOf(bravo, ci));
    lives(unenforced, clientOf(bravo, ci));
    const random = new Random(seed);
    for (const each of this.stages) {
      for (const action of [visit, visit, freezeActions['freeze']!]) action.act(each, random);
    }
    await stage.quiet();
    const intruders = { eve: github.addToken('eve'), remy: github.addToken('remy'), 'a key of bravo': bravo };
    for (const [name, token] of Object.entries({ ...intruders, bea: github.addToken('bea') }))
      this.#intruders.push({ name, api: clientOf(token) });
  }

  /** Those whose branches require the status. */
  get enforced(): Stage[] {
    return this.stages.filter(({ repository }) => repository !== unenforced);
  }

  /** One of them does something. */
  act(random: Random): string | null {
    for (let tries = 0; tries < mostTries; tries++) {
      const stage = oneOf(random, this.stages)!;
      const what = visits[random.weighted(weights)]!.act(stage, random);
      if (what !== null) return `${stage.repository}: ${what}`;
    }
    return null;
  }

  /** The team gets another name, and somebody else may make one with the name that it had. */
  renameTeam({ github }: Stage, random: Random): string {
    const [freed, name] = [this.#team, `release-${random.between(1, 1e9)}`];
    this.#team = name;
    github.renameTeam('acme', freed, name);
    const isTaken = random.chance(0.5);
    if (isTaken) github.addTeam('acme', freed, ['remy']);
    return `the team ${freed} is ${name} now${isTaken ? ', and remy has its former name' : ''}`;
  }

  /** Somebody freezes what is not theirs, and must be refused. */
  trespass(stage: Stage, random: Random): string {
    const { name, api } = oneOf(random, this.#intruders)!;
    const { repository } = oneOf(random, [stage, this.stages[0]!])!;
    const body = { reason: 'Not mine', start: null, timezone: 'UTC' };
    const ask = async () => {
      const answer = await api.call('POST', freezesOf({ repository }), body);
      if (![401, 403, 404].includes(answer.status))
        stage.violate('an intruder was let in', `${name} freezes ${repository}: ${say(answer)}`);
    };
    stage.aside(ask());
    return `${name} tries to freeze ${repository}`;
  }

  /** What nobody may have done in the whole run. */
  async lastCheck({ github, violate }: Stage): Promise<void> {
    const written = github.statusHistory(archived, github.pullRequest(archived, 1).headSha);
    if (written.length > 0) violate('written to an archived repository', JSON.stringify(written));
    const { api } = this.stages.find(({ repository }) => repository === unenforced)!;
    const { body } = await api.call('GET', `/v1/repos/${unenforced}/enforcement`);
    if (body.enforced !== false) violate('unexpected answer', `${unenforced} is enforced: ${body.enforced}`);
  }
}

/** A pull request of a stranger, from a fork, or of a bot. */
const visit: Action = {
  weight: 4,
  act(stage, random) {
    const { github, repository } = stage;
    if (openOnes(stage).length >= mostOpenNextDoor) return null;
    const isPrivate = repository === unenforced;
    const isBot = !isPrivate && random.chance(0.3);
    const author = isPrivate ? 'bea' : isBot ? 'dependabot[bot]' : 'eve';
    const base = oneOf(random, bases);
    const { number } = github.openPullRequest(repository, { author, base, fork: author === 'eve' });
    return `#${number} opened by ${author}`;
  },
};

const { push, label, unlabel, draft, ready, retarget, close, merge } = pullRequestActions;
const { freeze, update, remove, scopes } = freezeActions;
const usual = { push, label, unlabel, draft, ready, retarget, close, merge, freeze, update, remove, scopes };

/** What neighbours do. Strangers push most of all. */
const visits: Record<string, Action> = {
  visit,
  ...(usual as Record<string, Action>),
  flood: { ...push!, weight: 6 },
};
const weights = Object.fromEntries(Object.entries(visits).map(([name, { weight }]) => [name, weight]));

export const neighbourActions: Record<string, Action> = {
  neighbour: { weight: 24, act: ({ neighbours }, random) => neighbours!.act(random) },
  renameTeam: { weight: 1, act: (stage, random) => stage.neighbours!.renameTeam(stage, random) },
  trespass: { weight: 1, act: (stage, random) => stage.neighbours!.trespass(stage, random) },
};
