import { expect, test } from 'vitest';
import { readDeployments } from '../../../src/github/facts/checks.ts';

const deployment = (environment: string | null, day: number, state: string | null) => ({
  environment,
  createdAt: new Date(Date.UTC(2026, 0, day)).toISOString(),
  latestStatus: state === null ? null : { state },
});

test('of two at one instant, the one that GitHub names first counts', () => {
  const deployments = [deployment('production', 1, 'SUCCESS'), deployment('production', 1, 'FAILURE')];
  expect(readDeployments(deployments)).toMatchObject({ 'deployment-success': ['production'] });
});

test('of each environment the newest deployment counts', () => {
  const deployments = [
    deployment('production', 1, 'SUCCESS'),
    deployment('production', 2, 'FAILURE'),
    deployment('staging', 2, 'SUCCESS'),
    deployment('staging', 1, 'ERROR'),
    deployment('broken', 1, 'ERROR'),
    deployment('running', 1, 'SUCCESS'),
    deployment('running', 2, 'IN_PROGRESS'),
    deployment('planned', 1, null),
    deployment(null, 1, 'SUCCESS'),
  ];
  const expected = { 'deployment-success': ['staging'], 'deployment-failure': ['production', 'broken'] };
  expect(readDeployments(deployments)).toEqual(expected);
});
