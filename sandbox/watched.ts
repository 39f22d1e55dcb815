import { channel } from 'node:diagnostics_channel';
import type { Principal } from './state/access.ts';
import type { World } from './state/world.ts';

/** A request with its answer, whoever asked. No caller: it was refused before it was known, or it is of a page. */
export type WatchedExchange = { world: World; principal?: Principal; request: Request; answer: Response };
/** A webhook as it is sent. */
export type WatchedWebhook = { event: string; payload: unknown; headers: Record<string, string> };

/** Every sandbox of this process publishes what it is asked and answers here; it costs nothing while nobody subscribes. */
export const exchanges = channel('holdfast sandbox: exchanges');
export const webhooks = channel('holdfast sandbox: webhooks');
