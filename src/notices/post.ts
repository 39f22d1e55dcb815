import { Webhook } from 'standardwebhooks';
import type { Deps } from '../deps.ts';
import type { OutgoingWebhook } from '../generated/prisma/client.ts';
import type { Claimed } from './delivery-store.ts';
import { type Attempt, readRetryAfter, type Sent } from './judge-attempt.ts';
import { messageOf } from './message.ts';
import type { Notice } from './notice.ts';
import { fetchPublic } from './public-address.ts';
import { renderers } from './render.ts';
import { standardBody } from './standard-body.ts';
import type { Opened } from './webhook-secrets.ts';

/** An outgoing webhook in the clear. Never log it. */
export type Target = OutgoingWebhook & Opened;

/**
 * Sends one message to a webhook. @throws where there was no answer.
 * @param notices several where one plan did the same to many repositories, and the webhook is a chat.
 */
export type Sender = (
  deps: Deps,
  target: Target,
  notices: [Notice, ...Notice[]],
  delivery: Claimed,
) => Promise<Attempt>;

/** Milliseconds for the whole answer. */
const patience = 15_000;

async function post(
  deps: Deps,
  { url }: Target,
  body: string,
  headers: Record<string, string>,
): Promise<Sent> {
  const answer = await fetchPublic(deps, new URL(url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Holdfast (outgoing webhook)', ...headers },
    body,
    signal: AbortSignal.timeout(patience),
  });
  await answer.drop();
  return {
    status: answer.status,
    retryAfter: readRetryAfter(answer.header('retry-after'), deps.clock.now()),
  };
}

/** By Standard Webhooks: each secret that is good now signs. */
export const postStandard: Sender = (deps, target, [notice]) => {
  const body = standardBody(notice, target.publicText);
  const at = new Date(deps.clock.now());
  const signatures = target.secrets.map((secret) => new Webhook(secret).sign(notice.id, at, body));
  return post(deps, target, body, {
    'webhook-id': notice.id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  });
};

/** To a chat, which shows people a message. */
export const postTo =
  (kind: keyof typeof renderers): Sender =>
  (deps, target, notices) => {
    const message = messageOf(notices, { publicText: target.publicText });
    return post(deps, target, JSON.stringify(renderers[kind](message)), {});
  };
