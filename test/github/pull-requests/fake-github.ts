// A GitHub of one repository for these tests: it answers GraphQL from plain objects by GitHub's own schema, with
// pages and errors as GitHub has them, and the REST routes that are read besides. The sandbox keeps state and
// rules, which would stand in the way here.
import { Octokit } from '@octokit/rest';
import { execute, type GraphQLResolveInfo, parse, validate } from 'graphql';
import { pino } from 'pino';
import { connection, type ConnectionArguments } from '../../../sandbox/graphql/connection.ts';
import { errorJson, refusal, type RefusalType } from '../../../sandbox/graphql/refusal.ts';
import { githubSchema } from '../../../sandbox/graphql/schema.ts';
import { RateBudgets } from '../../../src/github/ask-github.ts';
import { systemClock } from '../../../src/time/clock.ts';
import type { Need } from '../../../src/conditions/needs.ts';
import { type LoadFrom, loadPullRequest } from '../../../src/github/pull-requests/load-pull-requests.ts';

/** A request without an answer. */
export class Refused {
  readonly status: number;
  readonly message: string;
  readonly headers: Record<string, string>;
  constructor(status: number, message = 'No', headers: Record<string, string> = {}) {
    this.status = status;
    this.message = message;
    this.headers = headers;
  }
  response = () => json({ message: this.message }, this.status, this.headers);
}

/** A pull request of a test, with lists as arrays. An `Error` in a field makes that field fail. */
export type Fixture = { number: number } & Record<string, unknown>;

/** What a test says of its only pull request. */
export type Own = Omit<Fixture, 'number'>;

export type FakeGitHub = {
  pullRequests: Fixture[];
  /** Of other repositories, or closed: `owner/name#n` as GitHub spells it. */
  merged: string[];
  /** Logins by the slug of a team of acme. */
  teams: Record<string, string[] | Error>;
  /** The files in REST's list, by number. */
  files: Record<number, object[]>;
  /** How far behind, by `base...sha`. */
  behind: Record<string, number>;
  /** By ref. */
  activities: Record<string, object[]>;
  /** Takes over a request: by method and path, or by the GraphQL operation's name. */
  intercept: (request: string, variables: Record<string, unknown>) => Refused | object | undefined;
  /** Each request: `GET /repos/…` or the operation's name. */
  requests: string[];
  /** Most requests that were under way at one time. */
  mostAtOnce: number;
  /** Answers to questions about stacks. */
  stacks: (url: URL) => Response;
  scopes: { number: number; scopes: string[]; allScopes: boolean }[];
  /** What GitHub said about the hour. */
  budgets: RateBudgets;
  from(...needs: Need[]): LoadFrom;
};

export const fail = (type: RefusalType = 'SERVICE_UNAVAILABLE') => refusal(type, `No: ${type}`);
export const shaOf = (number: number) => String(number).padStart(40, 'a');

export function fakeGitHub(): FakeGitHub {
  const fake: FakeGitHub = {
    pullRequests: [],
    merged: [],
    teams: {},
    files: {},
    behind: {},
    activities: {},
    intercept: () => undefined,
    requests: [],
    mostAtOnce: 0,
    stacks: () => json([]),
    scopes: [],
    budgets: new RateBudgets(systemClock),
    from(...facts) {
      const client = new Octokit({ request: { fetch: fetchOf(fake) }, log: silent });
      const findMany = async () =>
        fake.scopes.map((row) => ({ ...row, number: { toNumber: () => row.number } }));
      return {
        client,
        deps: {
          db: { pullRequestScopes: { findMany } },
          github: fake,
          config: { statusContext: 'holdfast/freeze' },
          log: pino({ level: 'silent' }),
          clock: systemClock,
        },
        repository: {
          id: 1n,
          name: 'web',
          account: { login: 'acme', type: 'Organization' },
          installation: { id: 7n },
        },
        needs: { facts: new Set(facts), teams: new Set() },
        stacks: [],
      } as unknown as LoadFrom;
    },
  };
  return fake;
}

/** The facts of pull request 1, which is like this. */
export async function load(github: FakeGitHub, fixture: Own, ...needs: Need[]) {
  github.pullRequests = [{ number: 1, ...fixture }];
  return (await loadPullRequest(github.from(...needs), 1))!.facts;
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
export const json = (body: unknown, status = 200, headers = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });

function fetchOf(fake: FakeGitHub): typeof fetch {
  let now = 0;
  return async (input, init) => {
    fake.mostAtOnce = Math.max(fake.mostAtOnce, ++now);
    // Real requests overlap.
    await new Promise((resolve) => setTimeout(resolve, 1));
    now -= 1;
    const url = new URL(String(input));
    if (url.pathname === '/graphql') return graphql(fake, JSON.parse(String(init?.body)));
    const request = `${init?.method ?? 'GET'} ${url.pathname}`;
    // Beside what the tests of other questions count.
    if (/\/(?:stacks|pulls)$/.test(url.pathname)) return fake.stacks(url);
    fake.requests.push(request);
    const taken = fake.intercept(request, Object.fromEntries(url.searchParams));
    return taken instanceof Refused ? taken.response() : rest(fake, url);
  };
}

function rest(fake: FakeGitHub, url: URL): Response {
  const [, number] = /^\/repos\/acme\/web\/pulls\/(\d+)\/files$/.exec(url.pathname) ?? [];
  if (number) {
    const all = fake.files[Number(number)] ?? [];
    const page = Number(url.searchParams.get('page') ?? 1);
    url.searchParams.set('page', String(page + 1));
    const isLast = all.length <= page * 100;
    return json(
      all.slice((page - 1) * 100, page * 100),
      200,
      isLast ? {} : { link: `<${url.href}>; rel="next"` },
    );
  }
  if (url.pathname === '/repos/acme/web/activity')
    return json(fake.activities[url.searchParams.get('ref') ?? ''] ?? []);
  const [, range] = /^\/repos\/acme\/web\/compare\/(.+)$/.exec(url.pathname) ?? [];
  const behind = range && fake.behind[decodeURIComponent(range)];
  if (behind === undefined || url.searchParams.get('per_page') !== '1')
    return json({ message: 'Not Found' }, 404);
  return json({ behind_by: behind });
}

async function graphql(
  fake: FakeGitHub,
  { query, variables }: { query: string; variables: Record<string, unknown> },
): Promise<Response> {
  const [, operation] = /query (\w+)/.exec(query)!;
  fake.requests.push(operation!);
  const taken = fake.intercept(operation!, variables);
  if (taken instanceof Refused) return taken.response();
  if (taken) return json(taken);
  const document = parse(query);
  const wrong = validate(githubSchema(), document);
  if (wrong.length > 0) throw new Error(`GitHub would not take ${operation}: ${wrong.join('; ')}`);
  const result = await execute({
    schema: githubSchema(),
    document,
    variableValues: variables,
    rootValue: root(fake),
    typeResolver: (value) => (value as { __typename: string }).__typename,
  });
  return json({ data: result.data, ...(result.errors && { errors: result.errors.map(errorJson) }) });
}

type Args = ConnectionArguments & Record<string, unknown>;

function root(fake: FakeGitHub) {
  const byNumber = (number: number) => fake.pullRequests.find((each) => each.number === number);
  const byId = (id: string) => {
    const found = byNumber(Number(id.slice(3)));
    return found ? pullRequestNode(found) : fail('NOT_FOUND');
  };
  return {
    node: ({ id }: { id: string }) => byId(id),
    nodes: ({ ids }: { ids: string[] }) => ids.map(byId),
    repository: ({ owner, name }: { owner: string; name: string }) =>
      owner === 'nobody'
        ? fail('NOT_FOUND')
        : {
            databaseId: 1,
            isPrivate: false,
            defaultBranchRef: { name: 'main' },
            nameWithOwner: `${owner}/${name}`.replace(/^acme\/Old$/, 'acme/new'),
            pullRequests: (args: Args, _: unknown, info: GraphQLResolveInfo) =>
              connection(fake.pullRequests, args, info, pullRequestNode),
            pullRequest({ number }: { number: number }) {
              const fullName = `${owner}/${name}`;
              const found = fullName.toLowerCase() === 'acme/web' && byNumber(number);
              if (found) return pullRequestNode(found);
              if (owner === 'secret') return fail('FORBIDDEN');
              const merged = fake.merged.includes(`${fullName}#${number}`);
              return merged || owner !== 'acme' ? { merged } : fail('NOT_FOUND');
            },
          },
    organization: ({ login }: { login: string }) =>
      login.toLowerCase() === 'acme'
        ? {
            team: ({ slug }: { slug: string }) => {
              const logins = fake.teams[slug] ?? null;
              if (logins === null || logins instanceof Error) return logins;
              return { members: listed(logins.map((each) => ({ login: each }))) };
            },
          }
        : fail('NOT_FOUND'),
  };
}

/** An `Error` in the list is an element that GitHub does not give. */
const listed =
  (items: unknown) =>
  (args: Args, _: unknown, info: GraphQLResolveInfo): unknown =>
    Array.isArray(items) ? connection(items, args, info, (item) => item) : items;

const lists = ['labels', 'assignees', 'reviewRequests', 'latestOpinionatedReviews', 'reviewThreads', 'files'];

function pullRequestNode(fixture: Fixture): object {
  const { number, commits, allCommits, statusCheckRollup, deployments, reviews, baseRef, ...own } = fixture;
  const sha = shaOf(number);
  for (const name of lists) own[name] = listed(own[name] ?? []);
  const { rules } = (baseRef ?? {}) as Record<string, unknown>;
  // The head is the last commit. Its statuses do not belong to the others.
  const all = (commits ?? [{}]) as object[];
  const nodes = Array.isArray(all)
    ? all.map((commit, at) =>
        commit instanceof Error ? commit : { commit: commitNode(commit, at === all.length - 1) },
      )
    : all;

  function commitNode(commit: object, isHead: boolean): object {
    return {
      oid: isHead ? sha : `${sha}-`,
      message: 'A change',
      author: { name: 'Ada', email: 'ada@acme.example', date: '2026-01-02T03:04:05Z' },
      committer: { name: 'GitHub', email: 'noreply@github.com', date: null },
      signature: null,
      parents: listed([{ oid: shaOf(0) }]),
      status: null,
      statusCheckRollup: Array.isArray(statusCheckRollup)
        ? { contexts: listed(statusCheckRollup) }
        : (statusCheckRollup ?? null),
      deployments: listed(deployments ?? []),
      ...commit,
    };
  }

  return {
    __typename: 'PullRequest',
    id: `PR_${number}`,
    url: `https://github.com/acme/web/pull/${number}`,
    number,
    state: 'OPEN',
    title: `Change ${number}`,
    merged: own['state'] === 'MERGED',
    isDraft: false,
    locked: false,
    author: { __typename: 'User', login: 'ada' },
    baseRefName: 'main',
    headRefName: `change-${number}`,
    headRefOid: sha,
    repository: { databaseId: 1, name: 'web', nameWithOwner: 'acme/web' },
    headRepository: { nameWithOwner: 'acme/web' },
    isCrossRepository: false,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-02T00:00:00Z',
    closedAt: null,
    mergedAt: null,
    additions: 5,
    deletions: 2,
    changedFiles: 1,
    mergeable: 'MERGEABLE',
    autoMergeRequest: null,
    mergeQueueEntry: null,
    body: '',
    ...own,
    baseRef:
      baseRef instanceof Error || baseRef === null
        ? baseRef
        : { refUpdateRule: null, ...(baseRef as object), rules: listed(rules === undefined ? [] : rules) },
    // `allCommits` fails the list of all, and leaves the head alone.
    commits: (args: Args, _: unknown, info: GraphQLResolveInfo) =>
      listed((info.path.key !== 'head' && allCommits) || nodes)(args, _, info),
    reviews: (args: Args, _: unknown, info: GraphQLResolveInfo) =>
      Array.isArray(reviews)
        ? listed(
            reviews.filter((one) => one instanceof Error || (args['states'] as string[]).includes(one.state)),
          )(args, _, info)
        : listed(reviews ?? [])(args, _, info),
  };
}
