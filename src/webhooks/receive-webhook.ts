import type { Context } from 'hono';
import { readLimited } from '../api/read-body.ts';
import { validate } from '../api/validate.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../errors.ts';
import { within } from '../within.ts';
import { acceptEvent } from './accept-event.ts';
import { BytesInFlight, type Share } from './bytes-in-flight.ts';
import { isHandled } from './handled-events.ts';
import { envelope, payloads } from './payloads.ts';

const mebibyte = 1024 * 1024;
/** The maximum size of GitHub's webhooks. */
const largest = 25 * mebibyte;
/** Milliseconds after which GitHub gives up a delivery. */
const patience = 10_000;

/** The maximum for all webhooks of the process, because we read their bodies before we know who sent them. */
export const bytesInFlight = new BytesInFlight(64 * mebibyte);

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
  if (!/^[\w-]{1,64}$/.test(guid) || !/^\w{1,64}$/.test(name) || !/^sha256=[0-9a-f]{64}$/i.test(signature)) {
    const detail =
      'Send the headers X-GitHub-Delivery, X-GitHub-Event and X-Hub-Signature-256 as GitHub does: a GUID, the name of an event, and sha256= with 64 hexadecimal digits.';
    return context.json({ detail }, 400);
  }
  const share = bytesInFlight.open();
  try {
    const raw = await readInTime(req.raw, share);
    if (raw === 'late') {
      const detail = 'The body did not arrive within 10 seconds. Send it again.';
      return context.json({ detail }, 408, { Connection: 'close' });
    }
    if (raw === 'broken') return context.json({ detail: 'The body broke off. Send it again.' }, 400);
    if (!(await deps.github.probot.webhooks.verify(raw, signature).catch(() => false))) {
      deps.log.warn({ delivery: guid, event: name }, 'a webhook with a wrong signature was refused');
      const detail =
        'The signature does not match: WEBHOOK_SECRET differs from the secret in the App’s settings.';
      return context.json({ detail }, 401);
    }
    deps.metrics.countWebhook(name in payloads ? name : 'other');
    const payload = readPayload(name, raw);
    if (typeof payload === 'string') return context.json({ detail: payload }, 400);
    await acceptEvent(deps, { guid, name, payload });
    return context.json({ accepted: true }, 202);
  } finally {
    share.release();
  }
}

/** The body as text; `late` if it did not arrive in time, `broken` if the sender hung up. */
async function readInTime(request: Request, share: Share): Promise<string | 'late' | 'broken'> {
  try {
    const bytes = await within(patience, readLimited(request, largest, share.claim));
    return bytes === null ? 'late' : Buffer.from(bytes).toString('utf8');
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return 'broken';
  }
}

/** The validated payload, or a sentence about what is wrong with it. */
function readPayload(name: string, raw: string): object | string {
  let payload: unknown;
  try {
    payload = JSON.parse(raw);
  } catch {
    return 'The payload is not JSON: set the content type application/json.';
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    return 'The payload is not a JSON object.';
  try {
    validate(envelope, payload, 'body');
    if (isHandled(name, payload)) validate(payloads[name as keyof typeof payloads], payload, 'body');
    return payload;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const problems = error.problems.map(({ path, message }) => `${path.slice(1).join('.')}: ${message}`);
    return `The payload is not one of the event ${name}: ${problems.join(' ')}`;
  }
}
