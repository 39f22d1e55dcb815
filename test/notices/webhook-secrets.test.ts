import { expect, test } from 'vitest';
import { CannotUnseal } from '../../src/database/secret-key.ts';
import { openWebhook, resealWebhooks } from '../../src/notices/webhook-secrets.ts';
import { acmeForAll } from '../support/acme.ts';
import { addWebhook } from '../support/outgoing.ts';

const acme = acmeForAll();

test('after SECRET_KEY changed, webhooks are encrypted anew, and need the former key no more', async () => {
  const { db, config, clock } = acme.app.deps;
  const url = 'http://127.0.0.1:1/hook';
  const { id, secret } = await addWebhook(acme, url);
  await addWebhook(acme, url, { kind: 'slack' });
  const [former, now] = [config.secretKey, new Date(clock.now())];
  const later = { ...config, secretKey: 'another key with at least 32 characters', secretKeyPrevious: null };
  const read = () => db.outgoingWebhook.findUniqueOrThrow({ where: { id } });
  await resealWebhooks({ db, config: later });
  const before = await read();
  expect(() => openWebhook(later, before, now)).toThrow(CannotUnseal);
  const both = { ...later, secretKeyPrevious: former };
  expect(openWebhook(both, before, now)).toEqual({ url, secrets: [secret] });
  await resealWebhooks({ db, config: both });
  for (const webhook of await db.outgoingWebhook.findMany())
    expect(openWebhook(later, webhook, now)).toEqual({ url, secrets: webhook.id === id ? [secret] : [] });
  const anew = await read();
  await resealWebhooks({ db, config: both });
  expect(await read()).toEqual(anew);
  await db.outgoingWebhook.deleteMany();
});
