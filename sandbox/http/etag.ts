import { createHash } from 'node:crypto';
import type { ApiContext } from './api.ts';

/** Tags an answer to GET. Whoever has it already gets 304. The tags that callers with another token get are others. */
export async function answerUnchanged(c: ApiContext): Promise<void> {
  if (c.req.method !== 'GET' || c.res.status !== 200) return;
  const asker = `${c.req.header('accept')} ${c.req.header('authorization')}`;
  const body = Buffer.from(await c.res.clone().arrayBuffer());
  const etag = `W/"${createHash('sha256').update(asker).update(body).digest('hex')}"`;
  const isKnown = c.req.header('if-none-match')?.split(/, */).includes(etag);
  if (isKnown) c.res = new Response(null, { status: 304 });
  c.header('etag', etag);
}
