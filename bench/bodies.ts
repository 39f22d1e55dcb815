// What large webhooks that come at once cost in memory, and whether it comes back.
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { memoryOf } from './child-process.ts';
import { alone, upTo } from './figure.ts';
import { startGitHub, startService } from './service.ts';

const atOnce = 40;
const size = 10_000_000;
/** MiB above what the process has before, however often the bodies come. */
const most = 150;
/** Milliseconds after the start, and after each round. */
const settling = 8_000;
const pause = 1_000;

/** A push of the size, with text that V8 cannot keep in one byte a character. */
const body = Buffer.from(
  JSON.stringify({
    ref: 'refs/heads/main',
    repository: { id: 1 },
    commits: Array.from({ length: size / 500 }, (_, at) => ({
      id: 'a'.repeat(40),
      message: `Change ${at} – ${'x'.repeat(260)}`,
      author: { name: 'Ada Lovelace', email: 'ada@example.com' },
      modified: ['src/engine/analyse.ts', `src/engine/notes-${at}.ts`],
    })),
  }),
);

type Kind = { name: string; signature: (secret: string) => string; pace: number | null };
const wrong = () => `sha256=${'0'.repeat(64)}`;
const right = (secret: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
const kinds: Kind[] = [
  { name: 'wrong signatures', signature: wrong, pace: null },
  { name: 'right signatures', signature: right, pace: null },
  // Fast enough not to be ended, too slow to be whole when GitHub would give up.
  { name: 'slow bodies', signature: right, pace: 1_000 },
];
const pieceOfSlow = 200_000;

/** @returns the status, or null where the connection ended without one. */
async function send(url: string, signature: string, pace: number | null): Promise<number | null> {
  const headers = {
    'X-GitHub-Delivery': randomUUID(),
    'X-GitHub-Event': 'push',
    'X-Hub-Signature-256': signature,
    'Content-Length': body.length,
  };
  const sent = request(`${url}/api/github/webhooks`, { method: 'POST', agent: false, headers });
  const answer = once(sent, 'response').then(
    ([response]) => response.statusCode as number,
    () => null,
  );
  sent.on('error', () => {});
  if (pace === null) sent.end(body);
  else void trickle(sent, pace);
  const status = await answer;
  sent.destroy();
  return status;
}

async function trickle(sent: ReturnType<typeof request>, pace: number): Promise<void> {
  for (let at = 0; at < body.length && !sent.destroyed; at += pieceOfSlow) {
    sent.write(body.subarray(at, at + pieceOfSlow));
    await sleep(pace);
  }
}

/** MiB above what the process had: at most in all rounds, and when it has been idle. */
async function measure({ signature, pace }: Kind, rounds: number, idle: number) {
  const { github } = await startGitHub();
  github.addRepository('acme/web');
  github.openPullRequest('acme/web', { author: 'ada' });
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-bodies-'));
  const service = await startService(github, { dataDir: folder });
  try {
    github.install('acme');
    await github.waitForStatus('acme/web', 1, 'success', { timeoutMs: 60_000 });
    await sleep(settling);
    const before = memoryOf(service.pid).resident;
    const statuses: (number | null)[] = [];
    for (let round = 0; round < rounds; round++) {
      const sending = Array.from({ length: atOnce }, () =>
        send(service.url, signature(github.app.webhookSecret), pace),
      );
      statuses.push(...(await Promise.all(sending)));
      await sleep(pause);
    }
    const { peak } = memoryOf(service.pid);
    await sleep(idle);
    return { peak: peak - before, left: memoryOf(service.pid).resident - before, statuses };
  } finally {
    await service.stop();
    await github.close();
    rmSync(folder, { recursive: true });
  }
}

export const benchBodies: Bench = {
  name: 'bodies',
  title: 'Large webhooks at once',
  async run({ isQuick }) {
    const rounds = isQuick ? 2 : 10;
    const idle = isQuick ? 1_000 : 60_000;
    const figures = [];
    const answers = [];
    for (const kind of kinds) {
      const { peak, left, statuses } = await measure(kind, rounds, idle);
      figures.push(
        alone('bodies', `${kind.name}: peak`, 'MiB more', peak, upTo(most)),
        alone('bodies', `${kind.name}: after them`, 'MiB more', left, upTo(most)),
      );
      const counts = [...Map.groupBy(statuses, String)].map(
        ([status, { length }]) => `${length} × ${status}`,
      );
      answers.push(`${kind.name}: ${counts.toSorted().join(', ')}`);
    }
    const notes = [
      `${rounds} rounds of ${atOnce} webhooks of ${size / 1_000_000} MB at once, from addresses of GitHub; “after them” is ${idle / 1000} s later. The process runs with the flags of npm start.`,
      `How they were answered: ${answers.join('; ')}. No more than 64 MiB are read at once; the first of a process count as a stranger's, until it knows GitHub's addresses.`,
    ];
    return { figures, notes };
  },
};
