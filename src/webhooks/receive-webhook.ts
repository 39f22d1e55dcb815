// `webhooks/` hears GitHub: it checks who speaks, turns what happened into jobs, and answers at once.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { tooLarge, validate } from '../api/read-request.ts';
import { nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { isUnavailable, Refusal } from '../errors.ts';
import { saveRefusedAt, isOfGitHub, noteSender, readGitHubNetworks } from '../github/hooks.ts';
import { addressOfClient, networkOf } from '../github/limits/client-address.ts';
import { inSteps, jobs } from '../database/queue/jobs.ts';
import { acceptEvent } from './accept-event.ts';
import { BodiesInFlight, Body, largestBody, type SenderShare } from './bodies-in-flight.ts';
import { envelope, isHandled, needsAction, payloads } from './handled-events.ts';
import { type NamedOwner, ownerIn } from './owner-events.ts';

const mebibyte = 1024 * 1024;
/** Seconds after which GitHub gives up a delivery. */
const deliveryPatience = 10;
/** The fewest bytes that a body brings in each second after its first. */
const slowestDelivery = 64 * 1024;
/** Above this, a look at GitHub's own addresses is worth a question. */
const worthALook = mebibyte;

/** The bodies of all webhooks that this process reads. */
export const inFlight = new BodiesInFlight();

/**
 * Answers GitHub's POST. Checks the headers before it reads the body, and the signature on the raw bytes before it parses
 * anything. Sends the 2xx when the jobs are committed. Does not use Probot's middleware, which waits 9 s at most for
 * handlers and then answers 202 with the work only in memory, and which logs whole payloads of unsigned requests.
 */
export async function receiveWebhook(deps: Deps, context: Context): Promise<Response> {
  const { req } = context;
  const guid = req.header('X-GitHub-Delivery') ?? '';
  const name = req.header('X-GitHub-Event') ?? '';
  const signature = req.header('X-Hub-Signature-256') ?? '';
  if (guid !== '' && name !== '' && signature === '') {
    const detail =
      'This delivery has no signature. Set a webhook secret at GitHub, in the App’s settings: the value of WEBHOOK_SECRET.';
    return context.json({ detail }, 400);
  }
  if (!/^[\w-]{1,64}$/.test(guid) || !/^\w{1,64}$/.test(name) || !/^sha256=[0-9a-f]{64}$/i.test(signature)) {
    const detail =
      'Send the headers X-GitHub-Delivery, X-GitHub-Event and X-Hub-Signature-256 as GitHub does: a GUID, the name of an event, and sha256= with 64 hexadecimal digits.';
    return context.json({ detail }, 400);
  }
  const address = addressOfClient(deps, context);
  const share = inFlight.open({ network: networkOf(address), isGitHub: isOfGitHub(deps, address) });
  const announced = req.header('Content-Length');
  const body = new Body(announced === undefined ? undefined : Number(announced));
  try {
    const read = await readSigned(deps, context, share, body);
    if (read === 'late') {
      const detail = 'The body did not arrive in time: within 10 seconds, and 64 KiB in each. Send it again.';
      return context.json({ detail }, 408);
    }
    if (read === 'broken') return context.json({ detail: 'The body broke off. Send it again.' }, 400);
    if (!isEqual(read, signature)) {
      deps.log.warn({ delivery: guid, event: name }, 'a webhook with a wrong signature was refused');
      const detail =
        'The signature does not match: WEBHOOK_SECRET differs from the secret in the App’s settings.';
      return context.json({ detail }, 401);
    }
    deps.metrics.countWebhook(name in payloads ? name : 'other');
    noteSender(deps, address);
    const { size } = body;
    const event = readPayload(name, body.take());
    if (typeof event === 'string') return context.json({ detail: event }, 400);
    // What is left of it is small.
    dropParsed(size);
    share.release();
    await acceptEvent(deps, { guid, name, ...event });
    return context.json({ accepted: true }, 202);
  } catch (error) {
    if (isUnavailable(error)) await noteRefused(deps);
    throw error;
  } finally {
    body.free();
    share.release();
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
/** Bytes of large payloads that are worth the time to collect what is left of them. */
const muchParsed = 8 * mebibyte;
let parsed = 0;

/** V8 keeps the texts and objects of large payloads until its heap has grown by them. Only GitHub can send these. */
function dropParsed(bytes: number): void {
  if (bytes < mebibyte) return;
  parsed += bytes;
  if (parsed < muchParsed) return;
  parsed = 0;
  collectGarbage();
}

/** Milliseconds between two notes of refusals, so that they cost little. */
const noteEvery = 1_000;
let notedAt = -Infinity;

/** What GitHub could not deliver is looked at in some seconds, when its list has it. */
async function noteRefused(deps: Deps): Promise<void> {
  const now = nowOf(deps.clock);
  if (Math.abs(now.getTime() - notedAt) < noteEvery) return;
  notedAt = now.getTime();
  await saveRefusedAt(deps.db, now);
  await deps.queue.send([jobs.recoverDeliveries(inSteps(now, lookStep))]);
}

/** Milliseconds: one look serves all refusals within it, four to eight seconds later. */
const lookStep = 4_000;

/** Reads a body. @returns its signature; `late` if it came too slowly, `broken` if the sender hung up. */
async function readSigned(
  deps: Deps,
  { req, env }: Context,
  share: SenderShare,
  body: Body,
): Promise<string> {
  if (Number(req.header('Content-Length')) > largestBody) throw tooLarge(largestBody);
  const hmac = createHmac('sha256', deps.config.app.webhookSecret);
  // The socket's own events: what wraps them in streams and promises costs more than the rest of a webhook.
  const { incoming } = (env as Partial<HttpBindings> | undefined) ?? {};
  const arriving = incoming ?? Readable.from(req.raw.body ?? []);
  const { promise: read, resolve, reject } = Promise.withResolvers<string>();
  const take = (chunk: Uint8Array<ArrayBuffer>) => {
    try {
      if (body.size + chunk.length > largestBody) throw tooLarge(largestBody);
      share.claim(chunk.length);
      if (inFlight.bytes > worthALook) void readGitHubNetworks(deps);
      hmac.update(chunk);
      body.add(chunk);
    } catch (error) {
      reject(error as Error);
    }
  };
  let [seconds, counted] = [0, 0];
  const watch = setInterval(() => {
    seconds++;
    if (seconds >= deliveryPatience || (seconds > 1 && body.size - counted < slowestDelivery))
      resolve('late');
    counted = body.size;
  }, 1_000);
  const breakOff = () => resolve('broken');
  arriving.on('data', take).once('error', breakOff).once('close', breakOff);
  arriving.once('end', () => resolve(`sha256=${hmac.digest('hex')}`));
  try {
    return await read;
  } finally {
    clearInterval(watch);
    // It leaves the socket open for an answer; `leaveUnread` closes it afterwards.
    arriving.off('data', take).pause();
  }
}

const isEqual = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(one), Buffer.from(other.toLowerCase()));

/** The fields of a payload that we read, validated, and whom it names; or a sentence about what is wrong with it. */
function readPayload(name: string, raw: string): { payload: object; owner: NamedOwner | null } | string {
  let payload: unknown;
  try {
    payload = JSON.parse(raw);
  } catch {
    return 'The payload is not JSON: set the content type application/json.';
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    return 'The payload is not a JSON object.';
  try {
    const head = validate(needsAction(name) ? envelope.required() : envelope, payload, 'body') as object;
    if (!isHandled(name, head)) return { payload: head, owner: null };
    const fields = validate(payloads[name as keyof typeof payloads], payload, 'body') as object;
    return { payload: { ...head, ...fields }, owner: ownerIn(payload) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const problems = error.problems.map(({ path, message }) => `${path.slice(1).join('.')}: ${message}`);
    return `The payload is not one of the event ${name}: ${problems.join(' ')}`;
  }
}
