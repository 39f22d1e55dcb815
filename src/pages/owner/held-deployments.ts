import { html } from 'hono/html';
import type { CurrentGroup } from '../../explanations/freeze-groups.ts';
import { heldEnvironmentsIn } from '../../explanations/enforcement/held-environments.ts';
import {
  areDeploymentsEnforced,
  type DeploymentsHeld,
  deploymentsHeldBy,
  holdsSomething,
} from '../../explanations/enforcement/judge-environments.ts';
import { areDeploymentsFrozen, type RepositoryState } from '../../explanations/repository-states.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import type { Html } from '../html.ts';
import type { PageDeps } from '../reader.ts';
import { badge } from '../states.ts';

// What ongoing freezes of deployments hold, on the pages of one owner and of several.

/** What a freeze or a plan holds of deployments, by repository. @property holdsMerges whether it holds merges, too. */
export type DeploymentsOfRow = Pick<CurrentGroup, 'holdsMerges' | 'deploymentsIn'> & {
  held: ReadonlyMap<bigint, DeploymentsHeld>;
};

/** What it holds in repositories of which the viewer sees the inside; null if it holds no deployments. */
export async function deploymentsOfGroup(
  deps: PageDeps,
  { deploymentsIn, holdsMerges }: CurrentGroup,
  states: RepositoryState[],
): Promise<DeploymentsOfRow | null> {
  const rows = states.filter(({ id }) => deploymentsIn.has(id));
  if (rows.length === 0) return null;
  const found = await heldEnvironmentsIn(deps, rows, (id) => deploymentsIn.get(id) ?? []);
  const held = new Map([...found].map(([id, its]) => [id, deploymentsHeldBy(its ?? 'unknown')]));
  return { held, holdsMerges, deploymentsIn };
}

/**
 * What all ongoing freezes of deployments do in a repository together.
 * @property isHeld whether GitHub waits for Holdfast somewhere. @property lacks why some of it is not held: the rule is not
 *   enabled, or there is no such environment; null if nothing is known to lack.
 */
export type DeploymentsThere = { isHeld: boolean | 'unknown'; lacks: 'rule' | 'environment' | null };

/** What is so where freezes of deployments are ongoing. Of others, and for outsiders, it is not known. */
export function deploymentsThere(
  repositories: RepositoryState[],
  rows: (DeploymentsOfRow | null)[],
): Map<bigint, DeploymentsThere> {
  const known = rows.filter((row) => row !== null);
  return new Map(
    repositories.filter(areDeploymentsFrozen).map(({ id, ofDeployments }) => {
      const its = known.filter(({ held }) => held.has(id));
      const words = its.map(({ held }) => held.get(id)!);
      const seen = its.reduce((sum, row) => sum + (row.deploymentsIn.get(id)?.length ?? 0), 0);
      const isWhole = seen === ofDeployments && !words.includes('unknown');
      const isHeld = words.some((word) => holdsSomething(word) === true) || (isWhole ? false : 'unknown');
      const loose = its.filter(
        ({ held, holdsMerges }) => areDeploymentsEnforced(held.get(id)!, holdsMerges) === false,
      );
      const isRule = loose.some(({ held }) => held.get(id) !== 'absent');
      return [id, { isHeld, lacks: loose.length === 0 ? null : isRule ? 'rule' : 'environment' }];
    }),
  );
}

/** In how many repositories freezes of deployments hold something, nothing, or only some environments. */
export type DeploymentCounts = Record<'frozen' | 'unknown' | 'notEnforced' | 'partly', number> & {
  /** Whether something goes past one that holds nothing. */
  isLoose: boolean;
};

export function countDeployments(there: DeploymentsThere[]): DeploymentCounts {
  const of = (isIt: (each: DeploymentsThere) => boolean) => there.filter(isIt).length;
  return {
    frozen: of(({ isHeld }) => isHeld === true),
    unknown: of(({ isHeld }) => isHeld === 'unknown'),
    notEnforced: of(({ isHeld, lacks }) => isHeld === false && lacks !== null),
    partly: of(({ isHeld, lacks }) => isHeld === true && lacks !== null),
    isLoose: there.some(({ isHeld, lacks }) => isHeld === false && lacks === 'rule'),
  };
}

const inRepositories = (count: number): string => `in ${countText(count, 'repository', 'repositories')}`;

const red = (text: string): Html => html`<span class="leaking">${text}</span>`;

/** What freezes of deployments do not hold, for the first line of a page. */
export function loosenessOf({ notEnforced, partly, isLoose }: DeploymentCounts): Html[] {
  const said = `deployments not enforced ${inRepositories(notEnforced)}`;
  return [
    ...(notEnforced === 0 ? [] : [isLoose ? red(said) : html`${said}: there is no such environment`]),
    ...(partly === 0 ? [] : [red(`deployments enforced in part ${inRepositories(partly)}`)]),
  ];
}

/** Whether a row of deployments alone is known to hold nothing. */
export const holdsNoDeployments = (row: DeploymentsOfRow | null): boolean =>
  row !== null && !row.holdsMerges && [...row.held.values()].every((held) => holdsSomething(held) === false);

/** In how many repositories a freeze of deployments holds something, and in how many it does not. */
export function whereItHolds({ held, holdsMerges }: DeploymentsOfRow): Html {
  const words = [...held.values()];
  const of = (...some: DeploymentsHeld[]) => words.filter((word) => some.includes(word)).length;
  const [holds, partly, loose, absent, unknown] = [
    ...[of('all', 'some'), of('some'), of('none'), of('absent'), of('unknown')],
  ] as [number, number, number, number, number];
  const all = countText(words.length, 'repository', 'repositories');
  return html`<p>Stops deployments in ${holds === words.length ? all : html`${holds} of ${all}`}</p>
    ${loose > 0 ? html`<p class="leaking">Not enforced ${inRepositories(loose)}: no environment has the rule</p>` : ''}
    ${partly > 0 ? html`<p class="leaking">Enforced in part ${inRepositories(partly)}: some environments don’t have the rule</p>` : ''}
    ${absent > 0 ? html`<p class="muted">${holdsMerges ? 'No such environment' : 'Not enforced'} ${inRepositories(absent)}${holdsMerges ? '' : ': there is no such environment'}</p>` : ''}
    ${unknown > 0 ? html`<p class="muted">Not known ${inRepositories(unknown)}</p>` : ''}`;
}

/** The word for a repository where freezes of deployments are ongoing. */
export function deploymentsBadge({ isHeld, lacks }: DeploymentsThere): Html {
  if (isHeld === 'unknown') return badge('frozen', 'Freeze of deployments');
  if (!isHeld) return badge('notEnforced', 'Deployments not enforced');
  return lacks ? badge('notEnforced', 'Deployments frozen in part') : badge('frozen', 'Deployments frozen');
}
