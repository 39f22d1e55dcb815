import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Answer } from '../support/holdfast.ts';
import { acmeForAll } from './acme.ts';

// What clients of the interface that never heard of plans, exemptions, pauses and settings see: the same requests get
// the same answers, byte for byte, as before these were there. The recording was made by this file at commit 82f5650,
// with RECORD_ANSWERS=yes. Ids stand in it as `<id-1>`, in the order in which they were seen.

type Exchange = {
  /** The caller: a key of `acme.keys`, a person of `acme.people`, or nobody. */
  as: string | null;
  request: string;
  headers?: Record<string, string>;
  body?: unknown;
  answer?: { status: number; headers: Record<string, string>; text: string };
};

const file = new URL('existing-clients.json', import.meta.url);
const exchanges = JSON.parse(readFileSync(file, 'utf8')) as Exchange[];

const acme = acmeForAll();

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const ids: string[] = [];
const withoutIds = (text: string): string =>
  text.replace(uuid, (id) => `<id-${(ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1) + 1}>`);
const withIds = (text: string): string => text.replace(/<id-(\d+)>/g, (_, at) => ids[Number(at) - 1]!);

/** Of connections, of one request each, and of what pages may load. */
const notCompared = [
  ...['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'x-request-id'],
  'content-security-policy',
];

function shown({ status, headers, text, body }: Answer) {
  const { warnings, ...known } = Array.isArray(body) ? { warnings: undefined } : (body ?? {});
  return {
    status,
    headers: Object.fromEntries(
      [...headers]
        .filter(([name]) => !notCompared.includes(name))
        .map(([name, value]) => [name, withoutIds(value)]),
    ),
    text: withoutIds(warnings === undefined ? text : JSON.stringify(known)),
  };
}

async function send({ as, request, headers, body }: Exchange) {
  const [method, path] = request.split(' ') as [string, string];
  const token = as === null ? undefined : ({ ...acme.keys, ...acme.people } as Record<string, string>)[as];
  const sent =
    body === undefined ? undefined : withIds(typeof body === 'string' ? body : JSON.stringify(body));
  const answer = await acme.call(method, withIds(path), { as: token, body: sent, headers });
  // Freezes of the same instant have no order.
  await acme.advanceTo(new Date(acme.clock.now() + 1000));
  return shown(answer);
}

test('the same requests get the same answers as before plans and exemptions', async () => {
  const answers: ReturnType<typeof shown>[] = [];
  for (const exchange of exchanges) answers.push(await send(exchange));
  if (process.env['RECORD_ANSWERS']) {
    const recorded = exchanges.map((exchange, at) => ({ ...exchange, answer: answers[at] }));
    writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
    return;
  }
  for (const [at, { as, request, body, answer }] of exchanges.entries())
    expect({ as, request, body, answer: answers[at] }).toEqual({ as, request, body, answer });
});
