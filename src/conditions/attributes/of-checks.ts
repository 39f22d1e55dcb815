import { list } from './attribute.ts';

/** The author decides: the workflows come from the pull request's own branch, and can use any name. */
const checks = (description: string) =>
  list('StatusCheckRollup.contexts', `names of the checks and commit statuses ${description}`, 'author', {
    needs: 'checks',
    rule: 'check',
  });

/** The author decides: a job of the own workflow deploys to any environment that needs no approval. */
const deployments = (description: string) =>
  list('Commit.deployments', description, 'author', { needs: 'deployments' });

/** What ran on the head commit. If runs have the same name, the newest counts. Our own commit status is left out. */
export const checkAttributes = {
  'check-cancelled': checks('that were cancelled'),
  'check-failure': checks('that failed, erred, timed out, were cancelled or need an action'),
  'check-neutral': checks('that ended neutral'),
  'check-pending': list(
    'StatusCheckRollup.contexts, Ref.refUpdateRule',
    'names of the checks and commit statuses that have not ended, and of required ones that have not begun',
    'author',
    { needs: 'required-checks', rule: 'check' },
  ),
  'check-skipped': checks('that were skipped'),
  'check-stale': checks('that GitHub marked stale'),
  'check-success': checks('that succeeded'),
  'check-success-or-neutral': checks('that succeeded or ended neutral'),
  'check-timed-out': checks('that timed out'),
  'deployment-failure': deployments('environments where the last deployment of the head commit failed'),
  'deployment-success': deployments('environments where the last deployment of the head commit succeeded'),
} as const;

export type CheckAttribute = Extract<keyof typeof checkAttributes, `check-${string}`>;
