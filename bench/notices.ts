// From an event to the arrival of its message at every outgoing webhook, at a steady stream of events.
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase } from '../src/database/connect.ts';
import type { Database } from '../src/database/database.ts';
import { ourselves } from '../src/events/actor.ts';
import { appendEvent } from '../src/events/append-event.ts';
import type { AuditEvent } from '../src/events/audit-event.ts';
import type { Bench } from './bench.ts';
import { cpuOf, startProgram } from './child-process.ts';
import { alone, compare, upTo } from './figure.ts';
import type { Ask, Heard } from './receivers.ts';
import { startGitHub, startService } from './service.ts';
import { median, percentile } from './statistics.ts';

const endpoints = 20;
const perSecond = 100;
/** Freezes that the events are about: those about one freeze arrive one after another. */
const freezes = Array.from({ length: 200 }, () => crypto.randomUUID());
/** Milliseconds that a message may be behind the last event. */
const patience = 30_000;

const attributes = {
  reason: 'Quarter end: the books are closed, and nobody changes what they are computed with',
  public_reason: null,
  start: '2026-03-01T09:00:00',
  end: '2026-03-08T09:00:00',
  timezone: 'Europe/Paris',
  matching_conditions: ['base=main', 'label!=hotfix'],
  exclude_conditions: ['label=release'],
};

/** What one change saves: its event, and the deliveries of it. */
async function happen({ prisma }: Database, accountId: bigint, index: number): Promise<void> {
  const metadata = {
    scheduled_freeze_id: freezes[index % freezes.length]!,
    scheduled_freeze_attributes: attributes,
    reason: 'Released',
  };
  const event = { type: 'scheduled_freeze.delete', metadata } as AuditEvent;
  await prisma.$transaction((tx) => appendEvent(tx, { accountId }, event, ourselves, new Date()));
}

async function stream(database: Database, accountId: bigint, seconds: number): Promise<void> {
  const began = performance.now();
  const under: Promise<void>[] = [];
  for (let index = 0; index < seconds * perSecond; index++) {
    await sleep(Math.max(0, began + (index * 1000) / perSecond - performance.now()));
    under.push(happen(database, accountId, index));
  }
  await Promise.all(under);
}

/** Milliseconds of each event, one after another. */
async function timed(database: Database, accountId: bigint, count: number): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    await happen(database, accountId, index);
    times.push(performance.now() - began);
  }
  return median(times);
}

/** The same event, saved by nothing but an insertion. */
async function plain({ prisma }: Database, accountId: bigint, count: number): Promise<number> {
  const times: number[] = [];
  const data = { accountId, type: 'scheduled_freeze.delete', outcome: 'success', trigger: 'api' } as const;
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    await prisma.$transaction((tx) =>
      tx.auditEvent.create({
        data: {
          ...{ ...data, receivedAt: new Date(), actorKey: String(ourselves.id) },
          metadata: {
            scheduled_freeze_id: freezes[index % freezes.length]!,
            scheduled_freeze_attributes: attributes,
          },
        },
      }),
    );
    times.push(performance.now() - began);
  }
  return median(times);
}

export const benchNotices: Bench = {
  name: 'notices',
  title: 'From an event to outgoing webhooks',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const seconds = isQuick ? 3 : 20;
    const { github, token } = await startGitHub();
    const connectionString = await postgres.createDatabase('notices');
    const service = await startService(github, { connectionString }, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' });
    const receivers = await startProgram('receivers.ts');
    const database = await connectDatabase({ connectionString });
    const failures: string[] = [];
    try {
      github.addRepository('acme/web');
      github.openPullRequest('acme/web', { author: 'ada' });
      github.install('acme');
      await github.waitForStatus('acme/web', 1, 'success', { timeoutMs: 60_000 });
      const { id } = await database.prisma.account.findFirstOrThrow({ where: { loginKey: 'acme' } });
      await timed(database, id, 200);
      const without = await timed(database, id, isQuick ? 200 : 2000);
      const floor = await plain(database, id, isQuick ? 200 : 2000);

      const { urls } = await receivers.ask<Heard>({ do: 'listen', count: endpoints } satisfies Ask);
      for (const url of urls)
        await service.call('POST', '/v1/webhooks/acme', token, { url, kind: 'standard' });
      const hear = async (count: number): Promise<number[]> => {
        const delays: number[] = [];
        const deadline = performance.now() + patience;
        do {
          delays.push(...(await receivers.ask<Heard>({ do: 'report' } satisfies Ask)).delays);
          if (delays.length < count) await sleep(100);
        } while (delays.length < count && performance.now() < deadline);
        return delays;
      };
      await stream(database, id, 3);
      await hear(3 * perSecond * endpoints);
      const cpu = cpuOf(service.pid);
      await stream(database, id, seconds);
      const sent = seconds * perSecond * endpoints;
      const delays = await hear(sent);
      const spent = cpuOf(service.pid) - cpu;
      if (delays.length !== sent)
        failures.push(
          `${delays.length} of ${sent} messages arrived within ${patience / 1000} s of the last event`,
        );
      const figures = [
        alone('notices', 'p50', 'ms', percentile(delays, 0.5)),
        alone('notices', 'p99', 'ms', percentile(delays, 0.99), upTo(2000), upTo(500)),
        alone('notices', 'processor time of each message', 'ms', spent / sent),
        compare('notices', 'an event without webhooks', 'ms', without, floor),
      ];
      const notes = [
        `${perSecond} events a second about ${freezes.length} freezes for ${seconds} s, to ${endpoints} addresses: ${perSecond * endpoints} signed messages a second, after 3 s to warm up. Measured from the time of the event to the arrival of the message. The events are saved by the process of the benchmarks, with the statement that saves deliveries; PostgreSQL, the service, the receivers and the benchmarks share the machine.`,
        'The event without webhooks is a transaction with that statement, where the owner has no webhook; its floor is a transaction that inserts the same row.',
      ];
      return { figures, notes, failures };
    } finally {
      await database.close();
      await service.stop();
      await receivers.stop();
      await github.close();
    }
  },
};
