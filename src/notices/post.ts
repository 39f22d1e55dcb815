import { Webhook } from 'standardwebhooks';
import type { OutgoingWebhook } from '../generated/prisma/client.ts';
import type { TakenDelivery } from './delivery-store.ts';
import { type DeliveryAttempt, readRetryAfter, type SentDelivery } from './judge-attempt.ts';
import { messageOfNotice } from './message.ts';
import type { Notice } from './notice.ts';
import { fetchPublic } from './public-address.ts';
import { renderers } from './render.ts';
import type { Opened } from './webhook-secrets.ts';
import { cutText } from '../cut-text.ts';
import type { Ground } from '../database/ground.ts';

/** An outgoing webhook in the clear. Never log it. */
export type PostTarget = OutgoingWebhook & Opened;

/**
 * Sends one message to a webhook. @throws where there was no answer.
 * @param notices several where one plan did the same to many repositories, and the webhook is a chat.
 */
export type Sender = (
  deps: Ground,
  target: PostTarget,
  notices: [Notice, ...Notice[]],
  delivery: TakenDelivery,
) => Promise<DeliveryAttempt>;

/** Milliseconds for the whole answer. */
const postPatience = 15_000;

async function post(
  deps: Ground,
  { url }: PostTarget,
  body: string,
  headers: Record<string, string>,
): Promise<SentDelivery> {
  const answer = await fetchPublic(deps, new URL(url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Holdfast (outgoing webhook)', ...headers },
    body,
    signal: AbortSignal.timeout(postPatience),
  });
  await answer.drop();
  return {
    status: answer.status,
    retryAfter: readRetryAfter(answer.header('retry-after'), deps.clock.now()),
  };
}

/** By Standard Webhooks: each secret that is good now signs. */
export const postStandard: Sender = (deps, target, notices) => {
  const [notice] = notices;
  const body = bodyOf(target, notices);
  const at = new Date(deps.clock.now());
  const signatures = target.secrets.map((secret) => new Webhook(secret).sign(notice.id, at, body));
  return post(deps, target, body, {
    'webhook-id': notice.id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  });
};

/** To a chat, which shows people a message. */
export const postToChat: Sender = (deps, target, notices) => post(deps, target, bodyOf(target, notices), {});

/** The body of the request that tells a webhook of some notices. */
export function bodyOf(
  { kind, publicText }: Pick<OutgoingWebhook, 'kind' | 'publicText'>,
  notices: [Notice, ...Notice[]],
): string {
  if (kind === 'standard') return standardBody(notices[0], publicText);
  const render = isChat(kind) ? renderers[kind] : renderers.slack;
  return JSON.stringify(render(messageOfNotice(notices, { publicText })));
}

const isChat = (kind: string): kind is keyof typeof renderers => Object.hasOwn(renderers, kind);

/** Bytes. Receivers of Standard Webhooks expect less than 20 kB. */
const largestMessage = 19_500;
/** If it is larger, texts have at most so many characters and lists so many entries, until it fits. */
const cuts = [
  { characters: 4000, entries: 100 },
  { characters: 1000, entries: 50 },
  { characters: 300, entries: 20 },
  { characters: 100, entries: 5 },
];

type Fields = Record<string, unknown>;

/**
 * The body for a receiver of Standard Webhooks.
 * @param publicText whether people outside may read it: public reasons replace reasons, and the reasons of deletions and
 *   decisions are left out.
 */
export function standardBody(notice: Notice, publicText: boolean): string {
  const { type, at, repository, pullRequest, freeze, exemption, details, actor, url, late } = notice;
  const data = {
    repository,
    ...(pullRequest === null ? {} : { pull_request: pullRequest }),
    ...(freeze && { freeze: publicText ? publicFreeze(freeze) : freeze }),
    ...(exemption && { exemption: publicText ? publicExemption(exemption) : exemption }),
    ...(publicText ? publicDetails(details) : details),
    actor,
    url,
    ...(late && { late }),
  };
  const body = { type, timestamp: at.toISOString(), data };
  const whole = JSON.stringify(body);
  const texts = [whole].concat(fits(whole) ? [] : cuts.map((cut) => JSON.stringify(body, cutTo(cut))));
  return texts.find(fits) ?? texts.at(-1)!;
}

const fits = (text: string): boolean => Buffer.byteLength(text) <= largestMessage;

const cutTo = ({ characters, entries }: (typeof cuts)[number]) =>
  function (key: string, value: unknown): unknown {
    if (Array.isArray(value)) return value.slice(0, entries);
    if (typeof value !== 'string' || value.length <= characters || /url$/.test(key)) return value;
    return cutText(value, characters);
  };

/** The reason of a freeze is public, unless it has a public reason. */
const publicFreeze = (freeze: Fields): Fields => ({
  ...freeze,
  reason: freeze['public_reason'] ?? freeze['reason'],
});

/** It may be from a freeze whose reason is not public, so its own reason is not public either. */
function publicExemption({ decision_reason: _, ...exemption }: Fields): Fields {
  return { ...exemption, reason: exemption['public_reason'] ?? '' };
}

function publicDetails({ reason: _, ...details }: Fields): Fields {
  const before = details['scheduled_freeze_attributes_before'] as Fields | undefined;
  return before ? { ...details, scheduled_freeze_attributes_before: publicFreeze(before) } : details;
}
