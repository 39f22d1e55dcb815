/**
 * A GitHub for a laptop. The demo and the tests run Holdfast against it.
 *
 * It is stateful: REST and GraphQL show what was written through REST or done through the verbs below, and each change
 * sends the signed webhook that GitHub would send. Its validation, errors, visibility rules and redirects are GitHub's,
 * as far as they are known.
 *
 * - `state/` is what it remembers and the rules over that; `actions/` are the changes, each with its webhook.
 * - `rest/` and `graphql/` show the state. GraphQL runs against GitHub's published schema.
 * - `web/` is what people see in a browser: signing in, pull requests with comments and the merge button, making and installing the App.
 *  - `http/` has what every request passes: credentials, rate limits, faults, the log.
 * - `webhooks/` signs, sends, loses and repeats deliveries.
 *
 * It refuses what it does not know: an unknown route is 501, an unknown GraphQL field is an error, and both are in
 * `unknownRoutes`, so that `assertNoUnknownRoutes()` fails the test. Names match case-insensitively.
 * Ids, SHAs and tokens are the same in each run; delivery GUIDs and the App's key are not. Time shown in data
 * comes from `now`, and so do OIDC tokens of jobs; other tokens, the App's JWTs and rate limits run on the real clock.
 */
import { generateKeyPairSync } from 'node:crypto';
import { Chaos } from './http/chaos.ts';
import { Faults } from './http/faults.ts';
import { authorizations } from './actions/authorizations.ts';
import { installations } from './actions/installations.ts';
import { jobTokens } from './actions/job-tokens.ts';
import { people } from './actions/people.ts';
import { PullRequestEdits } from './actions/pull-request-edits.ts';
import { PullRequestEvents } from './actions/pull-request-events.ts';
import { pullRequestVerbs } from './actions/pull-request-verbs.ts';
import { PullRequests } from './actions/pull-requests.ts';
import { RateLimits } from './http/rate-limit.ts';
import { repositories } from './actions/repositories.ts';
import { RequestLog } from './http/request-log.ts';
import { serve } from './http/serve.ts';
import { mergeQueueVerbs } from './actions/merge-queue-verbs.ts';
import { MergeQueues } from './actions/merge-queues.ts';
import { Statuses, statusQuestions } from './actions/statuses.ts';
import { Comments, commentVerbs } from './actions/comments.ts';
import { branches } from './actions/branches.ts';
import { branchRules } from './actions/branch-rules.ts';
import { Deployments, deploymentVerbs } from './actions/deployments.ts';
import { namedThings } from './actions/named-things.ts';
import { reports } from './actions/reports.ts';
import { reviewThreads } from './actions/review-threads.ts';
import { Stacks, stackVerbs } from './actions/stacks.ts';
import { teams } from './actions/teams.ts';
import { type Send, Webhooks } from './webhooks/webhooks.ts';
import { WriteLimit } from './http/write-limit.ts';
import { World, type AppIdentity } from './state/world.ts';

export interface SandboxOptions {
  /** By default any free port. */
  port?: number;
  webhookUrl?: string;
  /** The clock of timestamps in data. */
  now?: () => Date;
  /** What that clock would show if it had not just been set: tokens of the App from before are good, too. */
  before?: () => Date;
  /** Sends webhooks another way than over a socket. */
  send?: Send;
  /** Replaces the App's defaults: its slug, secret, permissions, events. Null: no App, until somebody makes one. */
  app?: Partial<AppIdentity> | null;
  /** The default context of questions about statuses. */
  statusContext?: string;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

let privateKey: string | undefined;
let secondKey: string | undefined;

const newKey = (): string =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;

/** Starts a GitHub with nobody in it. Close it when done. */
export async function startSandbox(options: SandboxOptions = {}) {
  const app = options.app === null ? null : { ...defaultApp(), ...options.app };
  const world = new World(app, options.now ?? (() => new Date()), options.before);
  const webhooks = new Webhooks(world, options.webhookUrl ?? null, options.send);
  const events = new PullRequestEvents(world, webhooks);
  const repositoryVerbs = repositories(world, webhooks);
  const pullRequests = new PullRequests(world, events, (fullName, isPrivate) =>
    repositoryVerbs.addRepository(fullName, { private: isPrivate, fork: true }),
  );
  const edits = new PullRequestEdits(world, events, pullRequests);
  const comments = new Comments(world, webhooks);
  const deployments = new Deployments(world, webhooks);
  const queues = new MergeQueues(world, webhooks, events, pullRequests);
  events.onEvent = (pr, action, payload) => queues.onEvent(pr, action, payload);
  const stacks = new Stacks(world, events);
  const branchVerbs = branches(world, webhooks, queues);
  const statuses = new Statuses(world, webhooks, pullRequests, queues);
  const personVerbs = people(world, webhooks);
  if (app) personVerbs.addBot(app.slug);
  const installationVerbs = installations(world, webhooks);

  const faults = new Faults(world.now);
  const chaos = new Chaos();
  webhooks.faults.chance = () => chaos.webhookFault();
  const limits = new RateLimits();
  const writeLimit = new WriteLimit(world.now);
  const requests = new RequestLog();
  const unknownRoutes: string[] = [];
  const parts = {
    world,
    webhooks,
    statuses,
    stacks,
    pullRequests,
    edits,
    queues,
    comments,
    deployments,
    faults,
    chaos,
    limits,
    writeLimit,
    requests,
    unknownRoutes,
    addBot: personVerbs.addBot,
    install: installationVerbs.install,
    uninstall: installationVerbs.uninstall,
    repositories: repositoryVerbs,
    branches: branchVerbs,
  };
  const server = await serve(parts, options.port ?? 0);
  world.url = server.url;

  return {
    url: server.url,
    /** What time it is. */
    now: world.now,
    /** Answers a request as its server does. */
    fetch: server.fetch,
    /** Throws while there is none. */
    get app() {
      return world.app;
    },
    /** Makes the second App, which edits rulesets. */
    addSecondApp() {
      const permissions = { metadata: 'read', administration: 'write' } as const;
      const identity = {
        id: 900_002,
        slug: 'holdfast-lock',
        name: 'Holdfast lock',
        clientId: 'Iv23liHoldfastLock01',
      };
      const secondApp: AppIdentity = {
        ...defaultApp(),
        ...identity,
        privateKey: (secondKey ??= newKey()),
        permissions,
        events: [],
      };
      world.secondApps.push(secondApp);
      personVerbs.addBot('holdfast-lock');
      return secondApp;
    },
    /** Somebody deletes the newest second App, and with it its installations. */
    deleteSecondApp() {
      for (const { app, account } of [...world.installations.values()])
        if (app === world.secondApp) installationVerbs.uninstall(account.login, { app });
      world.secondApps.pop();
    },
    /** Gives the App to an account. */
    ownApp(login: string) {
      world.app.owner = world.account(login);
    },
    ...personVerbs,
    ...authorizations(world, webhooks),
    ...repositoryVerbs,
    ...installationVerbs,
    ...pullRequestVerbs(world, pullRequests, edits, queues),
    ...mergeQueueVerbs(world, queues),
    ...stackVerbs(world, stacks),
    ...reviewThreads(world, events),
    ...commentVerbs(world, comments),
    ...namedThings(world, webhooks),
    ...reports(world, webhooks),
    ...branchVerbs,
    ...branchRules(world, webhooks),
    ...deploymentVerbs(world, deployments),
    ...teams(world, webhooks, events),
    ...jobTokens(world),
    ...statusQuestions(world, statuses, options.statusContext ?? 'holdfast/freeze'),

    faults,
    /** Faults by chance: `chaos.start({ seed, … })`. */
    chaos,
    /** Hourly budgets, which a test can lower: `rateLimits.core = 10`. */
    rateLimits: limits.limits,
    /** As after an hour: nobody has used anything. */
    beginHour: () => limits.beginHour(),
    /** The part of the hour's requests that the App has used for an owner, of the kind of which it has used most. */
    usedOfHour(owner: string): number {
      const holder = `installation ID ${world.installationOf(world.account(owner))!.id}`;
      const kinds = (['core', 'graphql'] as const).map((kind) => limits.read(holder, kind));
      return Math.max(...kinds.map(({ used, limit }) => used / limit));
    },
    /** A secondary limit without headers: `writeLimit.perMinute = 80`. It uses the clock of data. */
    writeLimit,
    requests,
    /** Requested routes and GraphQL fields that the sandbox does not have. */
    unknownRoutes,
    /** Fails a test whose code requested something that the sandbox does not have. */
    assertNoUnknownRoutes() {
      if (unknownRoutes.length > 0) throw new Error(`Unknown to the sandbox:\n${unknownRoutes.join('\n')}`);
    },
    /** From now on every request fails. */
    goDown(how: '502' | 'reset' = '502') {
      faults.down = how;
    },
    comeBack() {
      faults.down = false;
    },

    /** Sets how many milliseconds GitHub's clock, which the `Date` of its answers shows, is ahead of `now`. */
    setClockAhead(milliseconds: number) {
      world.clockAhead = milliseconds;
    },

    /** Sets how many milliseconds `mergeStateStatus` is behind what was posted; by default 2,000. */
    setMergeStatesBehind(milliseconds: number) {
      world.mergeStates.behind = milliseconds;
    },

    deliveries: webhooks.deliveries,
    webhookFaults: webhooks.faults,
    /** Sets where webhooks go. */
    deliverTo(url: string | null) {
      webhooks.target = url;
    },
    redeliver: (guid: string) => webhooks.redeliver(guid),
    settled: () => webhooks.settled(),

    async close() {
      await webhooks.close();
      await server.close();
    },
  };
}

function defaultApp(): AppIdentity {
  privateKey ??= newKey();
  return {
    id: 900_001,
    slug: 'holdfast',
    clientId: 'Iv23liHoldfastSandbx',
    clientSecret: 'sandbox-client-secret-0123456789abcdef01',
    callbackUrls: [],
    name: 'Holdfast',
    privateKey,
    webhookSecret: 'sandbox-webhook-secret',
    permissions: {
      metadata: 'read',
      statuses: 'write',
      pull_requests: 'read',
      merge_queues: 'read',
      contents: 'read',
      checks: 'read',
      deployments: 'read',
      members: 'read',
    },
    events: [
      ...[
        'check_run',
        'deployment_status',
        'installation_target',
        'label',
        'membership',
        'merge_group',
        'milestone',
        'organization',
      ],
      ...['pull_request', 'pull_request_review', 'pull_request_review_comment', 'pull_request_review_thread'],
      ...['push', 'repository', 'status', 'team'],
    ],
  };
}
