import { Octokit } from '@octokit/rest';
import { expect, test } from 'vitest';
import type { Job } from '../../src/database/queue/jobs.ts';
import { readDelivery, recoverDeliveries } from '../../src/webhooks/recover-deliveries.ts';
import type { GitHubClient } from '../../src/github/github-app.ts';
import { acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();

test('ids beyond numbers are read to their last digit', async () => {
  const id = '3804004623172239366';
  const delivery = `{"id":${id},"guid":"g-1","event":"pull_request","action":"closed","repository_id":1,
    "installation_id":2,"delivered_at":"${new Date(acme.clock.now()).toISOString()}"}`;
  const asked: string[] = [];
  const answer = async (url: string, { method }: { method: string }) => {
    const { pathname } = new URL(url);
    asked.push(`${method} ${pathname}`);
    const isList = pathname.endsWith('/deliveries');
    return isList
      ? new Response(`[${delivery}]`, { status: 200, headers: { 'content-type': 'application/json' } })
      : new Response('{}', { status: 404, headers: { 'content-type': 'application/json' } });
  };
  const client = new Octokit({ request: { fetch: answer } }) as unknown as GitHubClient;
  const { deps } = acme.app;
  const sent: Job[] = [];
  const queue = { ...deps.queue, send: async (some: Job[]) => void sent.push(...some) };
  const told = { ...deps, queue, github: { ...deps.github, asApp: async () => client } };
  await recoverDeliveries(told);
  expect(sent).toEqual([{ task: 'read-delivery', data: { deliveryId: id }, about: 'g-1', key: 'g-1' }]);
  await readDelivery(told, id);
  expect(asked).toEqual(['GET /app/hook/deliveries', `GET /app/hook/deliveries/${id}`]);
  expect(acme.logs.join('')).toContain('GitHub has forgotten a webhook delivery');
});

test('more than are read: everything that the App has is checked, once', async () => {
  const { deps } = acme.app;
  const now = new Date(acme.clock.now()).toISOString();
  let pages = 0;
  const answer = async () => {
    const page = pages++ % 30;
    const failed = Array.from({ length: 100 }, (_, index) => ({
      id: page * 100 + index,
      guid: `flood-${page}-${index}`,
      event: 'pull_request',
      action: 'edited',
      repository_id: index,
      installation_id: 2,
      delivered_at: now,
    }));
    const link = `<https://api.github.com/app/hook/deliveries?cursor=${page}>; rel="next"`;
    return new Response(JSON.stringify(failed), {
      status: 200,
      headers: { 'content-type': 'application/json', link },
    });
  };
  const client = new Octokit({ request: { fetch: answer } }) as unknown as GitHubClient;
  const sent: Job[] = [];
  const queue = { ...deps.queue, send: async (some: Job[]) => void sent.push(...some) };
  const told = { ...deps, queue, github: { ...deps.github, asApp: async () => client } };
  await recoverDeliveries(told);
  expect(pages).toBe(30);
  expect(sent).toEqual([{ task: 'sync-installations', data: {}, about: 'all', key: 'all' }]);
  expect(acme.logs.join('')).toContain('too many webhook deliveries failed; checking everything');
  await recoverDeliveries(told);
  expect(sent).toHaveLength(1);
});
