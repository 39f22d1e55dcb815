import type { AttributeValues } from '../../conditions/attributes.ts';
import type { DeploymentAnswer } from '../queries/answers.ts';

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
