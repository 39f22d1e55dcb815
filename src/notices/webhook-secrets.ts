import { randomBytes } from 'node:crypto';
import { seal, sealedAnew, type SecretKeys, unsealWithAny } from '../database/secret-key.ts';
import { conflict } from '../errors.ts';
import type { OutgoingWebhook } from '../generated/prisma/client.ts';
import type { Ground } from '../database/ground.ts';

/** A new secret of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

type Field = 'url' | 'secret';
// A secret keeps its purpose when it becomes the previous one.
const purposeOf = (field: Field, id: string) => `${field} of outgoing webhook ${id}`;

/**
 * Encrypts the address or a secret of a webhook for the database.
 * @throws Refusal conflict if there is no SECRET_KEY.
 */
export function sealOf({ secretKey }: SecretKeys, id: string, field: Field, text: string): string {
  if (secretKey === null)
    throw conflict('Holdfast encrypts webhooks with SECRET_KEY, which is not set. Ask who runs Holdfast.');
  return seal(secretKey, purposeOf(field, id), text);
}

/** What senders need of a webhook in the clear. Never log it. */
export type Opened = {
  /** Empty for a channel of the Slack app. */
  url: string;
  /** Those that sign now, the newest first. None for a chat. */
  secrets: string[];
};

/** @throws CannotUnseal */
export function openWebhook(keys: SecretKeys, webhook: OutgoingWebhook, now: Date): Opened {
  const { id, sealedUrl, sealedSecret, sealedPreviousSecret, previousSecretUntil } = webhook;
  const isPreviousGood = previousSecretUntil !== null && previousSecretUntil > now;
  const secrets = [sealedSecret, isPreviousGood ? sealedPreviousSecret : null].filter((one) => one !== null);
  return {
    url: sealedUrl && unsealWithAny(keys, purposeOf('url', id), sealedUrl),
    secrets: secrets.map((sealed) => unsealWithAny(keys, purposeOf('secret', id), sealed)),
  };
}

/**
 * Encrypts anew, under SECRET_KEY, what only SECRET_KEY_PREVIOUS opens, so that nobody needs that one for long. Does
 * nothing where it is not set.
 */
export async function resealWebhooks({ db, config }: Pick<Ground, 'db' | 'config'>): Promise<void> {
  if (config.secretKeyPrevious === null) return;
  for (const { id, sealedUrl, sealedSecret, sealedPreviousSecret } of await db.outgoingWebhook.findMany()) {
    const anew = <Text extends string | null>(field: Field, sealed: Text) =>
      sealed && sealedAnew(config, purposeOf(field, id), sealed);
    const data = {
      sealedUrl: anew('url', sealedUrl),
      sealedSecret: anew('secret', sealedSecret),
      sealedPreviousSecret: anew('secret', sealedPreviousSecret),
    };
    // Somebody may have changed it meanwhile.
    const before = { id, sealedUrl, sealedSecret, sealedPreviousSecret };
    if (data.sealedUrl !== sealedUrl || data.sealedSecret !== sealedSecret)
      await db.outgoingWebhook.updateMany({ where: before, data });
  }
}
