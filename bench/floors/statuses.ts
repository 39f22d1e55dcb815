// What the service's work on GitHub costs at least: statuses written as soon as it is known which.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type HttpBindings, serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { AddressInfo } from 'node:net';

const { GITHUB, TOKEN, WEBHOOK_SECRET } = process.env;
const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
const body = JSON.stringify({ state: 'pending', description: 'Frozen: Release', context: 'holdfast/freeze' });

async function post({ repository, sha }: Head): Promise<void> {
  const response = await fetch(`${GITHUB}/repos/${repository}/statuses/${sha}`, {
    method: 'POST',
    headers,
    body,
  });
  await response.arrayBuffer();
  if (response.status !== 201) throw new Error(`A status was answered ${response.status}`);
}

type Head = { repository: string; sha: string };

export type Question =
  | { do: 'where' }
  /** One after another. */
  | { do: 'post'; heads: Head[] }
  /** All at this instant. */
  | { do: 'post at'; at: number; heads: Head[] };

export type Posted = { wallMs: number; cpuMs: number };

const app = new Hono<{ Bindings: HttpBindings }>();
app.post('/', async (context) => {
  const raw = await context.req.text();
  const expected = `sha256=${createHmac('sha256', WEBHOOK_SECRET!).update(raw).digest('hex')}`;
  const given = context.req.header('X-Hub-Signature-256') ?? '';
  if (!timingSafeEqual(Buffer.from(given), Buffer.from(expected))) return context.body(null, 401);
  if (context.req.header('X-GitHub-Event') === 'pull_request') {
    const payload = JSON.parse(raw) as Payload;
    void post({ repository: payload.repository.full_name, sha: payload.pull_request.head.sha });
  }
  return context.body(null, 202);
});
type Payload = { repository: { full_name: string }; pull_request: { head: { sha: string } } };

async function answer(question: Question): Promise<object> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  switch (question.do) {
    case 'where':
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
    case 'post':
      for (const head of question.heads) await post(head);
      break;
    case 'post at':
      await new Promise((resolve) => setTimeout(resolve, question.at - Date.now()));
      await Promise.all(question.heads.map(post));
  }
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - began, cpuMs: (user + system) / 1000 } satisfies Posted;
}

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => {
  process.on(
    'message',
    (question: Question) => void answer(question).then((posted) => process.send!(posted)),
  );
  process.send!('hello');
});
