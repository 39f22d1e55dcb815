import { expect, test } from 'vitest';
import { Metrics } from '../../../src/metrics.ts';

test('a request to GitHub without an answer is counted apart', async () => {
  const metrics = new Metrics();
  for (const status of [204, 201, 502, null]) metrics.countGitHubRequest(status);
  const lines = (await metrics.registry.metrics()).split('\n');
  expect(lines.filter((line) => line.startsWith('holdfast_github_requests_total')).toSorted()).toEqual([
    'holdfast_github_requests_total{status="2xx"} 2',
    'holdfast_github_requests_total{status="4xx"} 0',
    'holdfast_github_requests_total{status="5xx"} 1',
    'holdfast_github_requests_total{status="none"} 1',
  ]);
});
