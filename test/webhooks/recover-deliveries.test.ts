import { Octokit } from '@octokit/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recoverDeliveries } from '../../src/webhooks/recover-deliveries.ts';
import type { GitHubClient } from '../../src/github/github-app.ts';
import { type Acme, startAcme } from '../support/acme.ts';

let acme: Acme;
beforeAll(async () => {
  acme = await startAcme();
});
afterAll(() => acme.close());

test('ids that no number can hold are asked for to their last digit', async () => {
  const id = '3804004623172239366';
  const delivered = new Date(acme.clock.now()).toISOString();
  const asked: string[] = [];
  const answer = async (url: string, { method }: { method: string }) => {
    asked.push(`${method} ${new URL(url).pathname}`);
    const body = method === 'POST' ? '{}' : `[{"id":${id},"guid":"g-1","delivered_at":"${delivered}"}]`;
    return new Response(body, {
      status: method === 'POST' ? 202 : 200,
      headers: { 'content-type': 'application/json' },
    });
  };
  const client = new Octokit({ request: { fetch: answer } }) as unknown as GitHubClient;
  const { deps } = acme.app;
  await recoverDeliveries({ ...deps, github: { ...deps.github, asApp: async () => client } });
  expect(asked).toEqual(['GET /app/hook/deliveries', `POST /app/hook/deliveries/${id}/attempts`]);
});
