import { conflict } from '../../../errors.ts';
import type { SlackOrder } from '../slack-order.ts';

/** Sends what happens in an owner's repositories to the channel. */
export async function subscribe(_order: SlackOrder): Promise<string> {
  throw conflict('Not yet.');
}

/** Ends that. */
export async function unsubscribe(_order: SlackOrder): Promise<string> {
  throw conflict('Not yet.');
}
