import type { Deps } from '../deps.ts';
import { listDeployments } from '../deployments/deployment-store.ts';
import { type Deployment, environmentKey } from '../deployments/deployment.ts';
import { type Freeze, holdsDeployments } from '../freezes/freeze.ts';
import type { DeploymentsToHold } from '../words/describe-fields.ts';
import type { DeploymentsHeld } from './enforcement/judge-environments.ts';
import type { EnforcementReport } from './enforcement/recent-enforcement.ts';

// What a freeze would hold of deployments, for previews.

/** @property hasRule whether GitHub waits for Holdfast there. @property waiting the deployments that wait there now, the newest first. */
export type PreviewedEnvironment = {
  name: string;
  hasRule: boolean;
  waiting: Pick<Deployment, 'runId' | 'workflow' | 'runNumber' | 'ref'>[];
};

/** How many waiting deployments of a repository we count. */
const mostWaiting = 100;

/** The environments of a repository whose deployments a freeze holds; null if it holds none, or GitHub does not say. */
export async function foreseeEnvironments(
  deps: Deps,
  repositoryId: bigint,
  freeze: Freeze,
  report: EnforcementReport | null,
): Promise<PreviewedEnvironment[] | null> {
  const facts = report?.environments;
  if (!holdsDeployments(freeze) || !facts?.known) return null;
  const { environments } = facts.value;
  const { rows } = await listDeployments(deps.db, repositoryId, 'waiting', { size: mostWaiting });
  const isAt = (name: string) => (each: { environment: string }) =>
    environmentKey(each.environment) === environmentKey(name);
  return environments
    .filter(({ name }) => holdsDeployments(freeze, name))
    .map(({ name, waits }) => ({ name, hasRule: waits, waiting: rows.filter(isAt(name)) }));
}

/**
 * What a freeze would hold of deployments: places, and the names of those of which GitHub says nothing; null for a freeze of
 * merges alone.
 */
export function deploymentsForeseen(
  holding: Pick<Freeze, 'holds'>,
  repositories: {
    name: string;
    deployments: DeploymentsHeld | null;
    environments: PreviewedEnvironment[] | null;
  }[],
): { places: DeploymentsToHold[]; unknown: string[] } | null {
  if (!holdsDeployments(holding)) return null;
  const namesOf = (all: PreviewedEnvironment[], isIt: boolean) =>
    all.filter(({ hasRule }) => hasRule === isIt).map(({ name }) => name);
  const known = repositories.filter(({ deployments }) => deployments !== 'unknown');
  return {
    places: known.map(({ name, environments }) => ({
      name,
      waiting: namesOf(environments ?? [], true),
      loose: namesOf(environments ?? [], false),
    })),
    unknown: repositories.filter(({ deployments }) => deployments === 'unknown').map(({ name }) => name),
  };
}
