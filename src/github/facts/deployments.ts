import type { AttributeValues } from '../../conditions/attributes.ts';
import { list, listGroup, page } from './attribute-group.ts';

type DeploymentAnswer = {
  environment: string | null;
  createdAt: string;
  latestStatus: { state: string } | null;
};

/** The environments where the newest deployment of the head commit succeeded, or failed. */
export function readDeployments(deployments: DeploymentAnswer[]): AttributeValues {
  const newest = new Map<string, DeploymentAnswer>();
  for (const deployment of deployments) {
    const { environment, createdAt } = deployment;
    if (environment === null) continue;
    const other = newest.get(environment);
    if (!other || Date.parse(createdAt) > Date.parse(other.createdAt)) newest.set(environment, deployment);
  }
  const ended = (...states: string[]) =>
    [...newest]
      .filter(([, { latestStatus }]) => states.includes(latestStatus?.state ?? ''))
      .map(([name]) => name);
  return { 'deployment-success': ended('SUCCESS'), 'deployment-failure': ended('FAILURE', 'ERROR') };
}

const order = 'orderBy: { field: CREATED_AT, direction: DESC }';
const deployments = list<DeploymentAnswer>(
  'deployments',
  'deployments',
  (which) => `deployments(${which}, ${order}) ${page('environment createdAt latestStatus { state }')}`,
  { ofHead: true },
);
// The former deployment of an environment becomes inactive without an event.
export const ofDeployments = listGroup(
  'deployments',
  ['deployment-success', 'deployment-failure'],
  deployments,
  readDeployments,
  ['deployment_status'],
);
