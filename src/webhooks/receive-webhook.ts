import type { Context } from 'hono';
import type { EmitterWebhookEvent } from '@octokit/webhooks';
import type { Probot } from 'probot';
import type { Logger } from 'pino';
import { readLimited } from '../api/read-body.ts';

/** GitHub sends nothing larger. */
const largest = 25 * 1024 * 1024;

/**
 * Answers GitHub's POST. The signature is checked on the bytes as they came, before anything is parsed; the 2xx
 * is sent when the event's jobs are committed. Not Probot's own middleware: it waits for handlers at most 9 s
 * and then answers 202 with the work only in memory, and it logs whole payloads of unsigned requests.
 */
export async function receiveWebhook(probot: Probot, log: Logger, context: Context): Promise<Response> {
  const { req } = context;
  const id = req.header('X-GitHub-Delivery');
  const name = req.header('X-GitHub-Event');
  const signature = req.header('X-Hub-Signature-256');
  if (!id || !name || !signature) {
    const detail = 'Send the headers X-GitHub-Delivery, X-GitHub-Event and X-Hub-Signature-256.';
    return context.json({ detail }, 400);
  }
  const raw = Buffer.from(await readLimited(req.raw, largest)).toString('utf8');
  if (!(await probot.webhooks.verify(raw, signature).catch(() => false))) {
    log.warn(
      { delivery: id.slice(0, 64), event: name.slice(0, 64) },
      'a webhook with a wrong signature was refused',
    );
    const detail =
      'The signature does not match: WEBHOOK_SECRET differs from the secret in the App’s settings.';
    return context.json({ detail }, 401);
  }
  let payload: unknown;
  try {
    payload = JSON.parse(raw);
  } catch {
    return context.json({ detail: 'The payload is not JSON: set the content type application/json.' }, 400);
  }
  await probot.receive({ id, name, payload } as EmitterWebhookEvent);
  return context.json({ accepted: true }, 202);
}
