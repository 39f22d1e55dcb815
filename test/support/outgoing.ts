import type { Holdfast } from './holdfast.ts';
import { newSecret, sealOf } from '../../src/notices/webhook-secrets.ts';

type Kind = 'standard' | 'slack' | 'teams' | 'discord' | 'google_chat';

/** An outgoing webhook, made without the API. @returns its id, and the secret of a `standard` one. */
export async function addWebhook(
  { app: { deps } }: Pick<Holdfast, 'app'>,
  url: string,
  {
    owner = 'acme',
    kind = 'standard' as Kind,
    ...more
  }: { owner?: string; kind?: Kind; events?: string[]; publicText?: boolean } = {},
): Promise<{ id: string; secret: string }> {
  const id = crypto.randomUUID();
  const secret = newSecret();
  const account = await deps.db.account.findFirstOrThrow({ where: { loginKey: owner } });
  await deps.db.outgoingWebhook.create({
    data: {
      id,
      kind,
      accountId: account.id,
      sealedUrl: sealOf(deps.config, id, 'url', url),
      shownUrl: kind === 'standard' ? url : `${new URL(url).host} …${url.slice(-4)}`,
      sealedSecret: kind === 'standard' ? sealOf(deps.config, id, 'secret', secret) : null,
      repositories: [],
      events: [],
      createdAt: new Date(deps.clock.now()),
      createdBy: { type: 'user', id: 0, name: 'test' },
      ...more,
    },
  });
  return { id, secret };
}

/** The deliveries of a webhook, the earliest first. */
export const deliveriesOf = ({ app: { deps } }: Pick<Holdfast, 'app'>, webhookId: string) =>
  deps.db.outgoingDelivery.findMany({ where: { webhookId }, orderBy: { serial: 'asc' } });
