import {
  execute,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLTypeResolver,
} from 'graphql';
import { instantJson } from '../json/instant-json.ts';
import { accountNode } from './account-node.ts';
import { atLeast, canSee, type Principal, roleOf } from '../state/access.ts';
import { checkedDocument, githubSchema } from './schema.ts';
import { errorJson, refusal } from './refusal.ts';
import { GitHubError } from '../http/github-error.ts';
import { type SearchArguments, searchPeople } from './people-search.ts';
import { pullRequestNode } from './pull-request-node.ts';
import { queryCost, type QueryCost } from './query-cost.ts';
import { repositoryNode } from './repository-node.ts';
import { bodyOf, type Api, type Parts } from '../http/api.ts';
import { organizationNode } from './team-node.ts';
import { demandPermission, type View } from './view.ts';

const mostNodes = 500_000;

/** GraphQL, executed against GitHub's own schema. Every answer is 200, except for bad credentials. */
export function graphqlRoute(api: Api, parts: Parts): void {
  const { world, faults, chaos, limits, unknownRoutes, edits } = parts;

  /** If the schema has a field and the sandbox does not, it must not read as null. */
  const fieldResolver: GraphQLFieldResolver<Record<string, unknown>, Principal> = (
    source,
    args,
    context,
    info,
  ) => {
    const { fieldName, parentType } = info;
    if (!(fieldName in source)) {
      unknownRoutes.push(`GraphQL ${parentType.name}.${fieldName}`);
      throw refusal(
        'SANDBOX_UNKNOWN_FIELD',
        `The sandbox GitHub does not know ${parentType.name}.${fieldName}`,
      );
    }
    demandPermission(context, parentType.name, fieldName);
    const value = source[fieldName];
    return typeof value === 'function' ? value(args, context, info) : value;
  };
  const typeResolver: GraphQLTypeResolver<{ __typename: string }, unknown> = (value) => value.__typename;

  api.post('/graphql', async (c) => {
    const principal = c.get('principal');
    if (principal.kind === 'anonymous' || principal.kind === 'app') {
      throw new GitHubError(401, 'This endpoint requires you to be authenticated.');
    }
    const body = await bodyOf(c);
    if (typeof body['query'] !== 'string') {
      const message = 'A query attribute must be specified and must be a string.';
      return c.json({ errors: [{ message }] });
    }
    const variables = (body['variables'] ?? {}) as Record<string, unknown>;
    const document = checkedDocument(body['query']);
    if (!('kind' in document)) return c.json({ errors: document.map(errorJson) });

    const cost = queryCost(document, variables);
    if (cost.nodeCount > mostNodes) {
      const message = `This query requests up to ${cost.nodeCount} possible nodes which exceeds the maximum limit of ${mostNodes}.`;
      return c.json({ errors: [errorJson(refusal('MAX_NODE_LIMIT_EXCEEDED', message))] });
    }
    try {
      limits.spend(c.get('holder'), 'graphql', cost.cost);
    } catch (error) {
      return c.json({ errors: [errorJson(refusal('RATE_LIMITED', (error as Error).message))] });
    }
    const logged = c.get('logged');
    const asOf = chaos.asOf(logged);
    if (asOf !== null) logged.asOf = asOf;
    const result = await execute({
      schema: githubSchema(),
      document,
      contextValue: principal,
      variableValues: variables,
      operationName: body['operationName'] as string | undefined,
      rootValue: {
        ...root({ world, faults, principal, asOf }, cost, () => limits.read(c.get('holder'), 'graphql')),
        ...mutations({ world, faults, principal, asOf }, edits),
      },
      fieldResolver: fieldResolver as GraphQLFieldResolver<unknown, unknown>,
      typeResolver: typeResolver as GraphQLTypeResolver<unknown, unknown>,
    });
    return c.json({
      ...(result.data !== undefined && { data: result.data }),
      ...(result.errors && { errors: result.errors.map(errorJson) }),
    });
  });
}

/** The fields of `Query` that the sandbox answers. */
function root(
  view: View,
  cost: QueryCost,
  budget: () => { limit: number; used: number; remaining: number; reset: number },
) {
  const { world, principal } = view;

  function nodeOf(id: string): object | Error {
    const found = world.findNode(id);
    const repository =
      found && ('repository' in found ? found.repository : 'pullRequests' in found ? found : null);
    if (!found || (repository && !canSee(principal, repository))) {
      return refusal('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
    }
    if ('repository' in found) {
      const seen = world.formerVersions.pullRequest(found, view.asOf);
      return seen
        ? pullRequestNode(view, seen)
        : refusal('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
    }
    return 'pullRequests' in found ? repositoryNode(view, found) : accountNode(found);
  }

  return {
    repository: ({
      owner,
      name,
      followRenames = true,
    }: {
      owner: string;
      name: string;
      followRenames?: boolean;
    }) => {
      const fullName = `${owner}/${name}`;
      const repository =
        world.findRepository(fullName) ?? (followRenames ? world.findRenamed(fullName) : undefined);
      if (repository && canSee(principal, repository)) return repositoryNode(view, repository);
      throw refusal('NOT_FOUND', `Could not resolve to a Repository with the name '${fullName}'.`);
    },
    organization: ({ login }: { login: string }) => {
      const account = world.findAccount(login);
      if (account?.type === 'Organization') return organizationNode(view, account);
      throw refusal('NOT_FOUND', `Could not resolve to an Organization with the login of '${login}'.`);
    },
    user: ({ login }: { login: string }) => {
      const account = world.findAccount(login);
      if (account?.type === 'User') return accountNode(account);
      throw refusal('NOT_FOUND', `Could not resolve to a User with the login of '${login}'.`);
    },
    search: (args: SearchArguments, _: unknown, info: GraphQLResolveInfo) => searchPeople(world, args, info),
    node: ({ id }: { id: string }) => nodeOf(id),
    nodes: ({ ids }: { ids: string[] }) => ids.map(nodeOf),
    viewer: () => viewer(principal),
    rateLimit: () => {
      const { limit, used, remaining, reset } = budget();
      return { ...cost, limit, used, remaining, resetAt: instantJson(new Date(reset * 1000)) };
    },
  };
}

/** The fields of `Mutation` that the sandbox has: what people do that REST cannot. */
function mutations(view: View, edits: Parts['edits']) {
  const { world, principal } = view;
  return {
    enablePullRequestAutoMerge: ({ input }: { input: { pullRequestId: string } }) => {
      const pr = world.findNode(input.pullRequestId);
      const mayMerge =
        pr &&
        'merged' in pr &&
        principal.kind === 'user' &&
        atLeast(roleOf(principal.token.user, pr.repository), 'write');
      if (!mayMerge)
        throw refusal(
          'NOT_FOUND',
          `Could not resolve to a node with the global id of '${input.pullRequestId}'`,
        );
      edits.setAutoMerge(pr, true, principal.token.user);
      return { pullRequest: pullRequestNode(view, pr) };
    },
  };
}

function viewer(principal: Principal) {
  if (principal.kind === 'user') return accountNode(principal.token.user);
  throw refusal('FORBIDDEN', 'Resource not accessible by integration');
}
