import type { Step } from '../stage.ts';
import { app } from './app.ts';
import { background } from './background.ts';
import { deployments } from './deployments.ts';
import { merging } from './merging.ts';
import { rules } from './rules.ts';

/** Every step, in the order in which they run. */
export const steps: Step[] = Object.entries({
  ...merging,
  ...background,
  ...rules,
  ...deployments,
  ...app,
}).map(([name, step]) => ({ name, ...step }));

/** What Holdfast relies on and no step asks, with the reason. */
export const notProven: Record<string, string> = {
  'a renamed organization': 'it takes a person',
  'a transferred repository': 'it takes a second organization',
  'signing in, and permissions that are accepted later': 'they take a person',
  'people who are not admins': 'they take a second account',
  'an admin who bypasses an environment': 'GitHub has no API for it',
  'matrices of deployments, and runs that are run again': 'they take long',
  'former stacks': 'a stack is listed as former only after its pull requests were merged',
};
