import type { GraphQLResolveInfo } from 'graphql';
import { instantJson } from '../json/instant-json.ts';
import { fullNameOf } from '../state/world.ts';
import { connection, type ConnectionArguments } from './connection.ts';
import { contextNode } from './commit-node.ts';
import { latestStatuses } from '../state/mergeability.ts';
import { nodeId } from '../state/ids.ts';
import { refusal } from './refusal.ts';
import type { View } from './view.ts';
import type { CheckRun, CommitStatus, Deployment, PullRequest } from '../state/model.ts';

/** The reports on a commit: check runs and statuses together, and deployments. */
export function reportsNode(view: View, pr: PullRequest, sha: string) {
  const { repository } = pr;
  const withheld = (field: string) => {
    if (!view.faults.withholds(`${fullNameOf(repository)}#${pr.number}`, field)) return;
    throw refusal('SERVICE_UNAVAILABLE', `Something went wrong while loading \`${field}\`.`);
  };
  return {
    statusCheckRollup: () => {
      withheld('statusCheckRollup');
      const contexts = [...latestStatuses(repository, sha), ...(repository.checkRuns.get(sha) ?? [])];
      if (contexts.length === 0) return null;
      return {
        __typename: 'StatusCheckRollup',
        id: `${nodeId('StatusContext', repository.id)}_rollup_${sha}`,
        contexts: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) => {
          const runs = contexts.flatMap((each) => ('context' in each ? [] : [stateOfRun(each)]));
          const statuses = contexts.flatMap((each) => ('context' in each ? [each.state.toUpperCase()] : []));
          return {
            ...connection<CommitStatus | CheckRun>(contexts, args, info, (each) =>
              'context' in each ? contextNode(each) : checkRunNode(each),
            ),
            checkRunCount: runs.length,
            checkRunCountsByState: countsByState(runs),
            statusContextCount: statuses.length,
            statusContextCountsByState: countsByState(statuses),
          };
        },
      };
    },
    deployments: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) => {
      withheld('deployments');
      // In the order of the query: the newest first.
      const newest = (repository.deployments.get(sha) ?? []).toReversed();
      return connection(newest, args, info, deploymentNode);
    },
  };
}

/** GitHub's `CheckRunState`: the conclusion once there is one. */
const stateOfRun = ({ status, conclusion }: CheckRun): string => (conclusion ?? status).toUpperCase();

const countsByState = (states: string[]) =>
  [...Map.groupBy(states, (state) => state)].map(([state, same]) => ({ state, count: same.length }));

function checkRunNode({ id, name, app, status, conclusion, startedAt, completedAt }: CheckRun) {
  return {
    __typename: 'CheckRun',
    id: `CR_${id}`,
    databaseId: id,
    name,
    status: status.toUpperCase(),
    conclusion: conclusion?.toUpperCase() ?? null,
    startedAt: instantJson(startedAt),
    completedAt: instantJson(completedAt),
    checkSuite: {
      __typename: 'CheckSuite',
      id: `CS_${id}`,
      app: {
        __typename: 'App',
        slug: app,
        name: app,
        logoUrl: `https://avatars.githubusercontent.com/in/${app}`,
      },
    },
  };
}

function deploymentNode({ id, environment, state, createdAt }: Deployment) {
  return {
    __typename: 'Deployment',
    id: `DE_${id}`,
    databaseId: id,
    environment,
    latestEnvironment: environment,
    createdAt: instantJson(createdAt),
    latestStatus: { __typename: 'DeploymentStatus', state: state.toUpperCase() },
  };
}
