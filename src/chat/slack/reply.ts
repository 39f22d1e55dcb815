// How the answer of a request of Slack gets there: where Slack takes answers to the request, else by a message of the bot.
import { isOurTurn } from '../../database/queue/queue.ts';
import type { SqlTx } from '../../database/sql.ts';
import type { Deps } from '../../deps.ts';
import type { SlackRequest } from '../../generated/prisma/client.ts';
import type { SlackApp } from '../../notices/slack/slack-apps.ts';
import { askSlack, respond, SlackFailure } from '../../notices/slack/slack-client.ts';
import type { Effect, Item, Outcome } from '../../outside/effect.ts';
import type { Reply } from './slack-order.ts';

/** How long Slack takes answers at the address of a request, and how many. */
const responseLasts = 29 * 60_000;
const mostReplies = 5;
/** After this many milliseconds without Slack, nobody waits for an answer. */
const givenUpAfter = 60 * 60_000;

/** @property responds whether Slack takes one more answer at the address of the request. */
type Due = Item & { responds: boolean };

/**
 * An answer in Slack. Slack does not say what the address of a request was sent, so an answer whose confirmation was lost
 * comes twice.
 * @param begun the request with the address.
 */
export function replyTo(
  deps: Deps,
  app: SlackApp,
  request: SlackRequest,
  begun: SlackRequest,
  reply: Reply,
  turn: bigint,
): Effect<Due, Outcome> {
  const { isPublic, ...message } = reply;
  return {
    room: { first: 1, most: 1 },
    async take() {
      const taken = await takeReply(deps, begun, turn);
      return { items: taken.isOurs ? [{ attempts: 1, responds: taken.responds }] : [], then: null };
    },
    async act({ responds }) {
      if (!responds || !(await isTaken(respond(deps, begun.responseUrl!, message, isPublic))))
        await post(deps, app, { channelId: begun.channelId, userId: request.userId }, reply);
      return { kind: 'done' };
    },
    failureOf(error) {
      if (!(error instanceof SlackFailure)) throw error;
      const age = deps.clock.now() - request.receivedAt.getTime();
      if (error.kind !== 'refused' && age < givenUpAfter)
        return {
          kind: 'limited',
          until: new Date(deps.clock.now() + Math.max(1, error.retryAfter ?? 5) * 1000),
        };
      deps.log.warn({ team: request.teamId, reason: error.reason }, 'Slack took no answer');
      return { kind: 'refused' };
    },
    async settle(results) {
      if (results.some(({ result }) => result.kind === 'done' || result.kind === 'refused'))
        await settleRequest(deps.sql, request.id, turn);
    },
  };
}

/** Marks a request that is answered, or given up, while its lane is ours. */
export async function settleRequest(sql: SqlTx, id: string, turn: bigint): Promise<void> {
  await sql.query(
    'settle a request of Slack',
    `UPDATE slack_requests SET is_settled = true WHERE id = $1 AND ${isOurTurn('$2')}`,
    [id, turn],
  );
}

/** Counts an answer at the address of a request, if Slack takes one more. */
async function takeReply(
  { sql, clock }: Deps,
  { id, responseUrl, receivedAt }: SlackRequest,
  turn: bigint,
): Promise<{ isOurs: boolean; responds: boolean }> {
  const isOpen = responseUrl !== null && clock.now() - receivedAt.getTime() <= responseLasts;
  const [row] = await sql.query<{ isOurs: boolean; responds: boolean }>(
    'take a reply in Slack',
    `WITH ours AS (SELECT ${isOurTurn('$2')} AS is), counted AS (
       UPDATE slack_requests SET replies = replies + 1
       WHERE id = $1 AND $3::boolean AND replies < ${mostReplies} AND (SELECT "is" FROM ours) RETURNING 1
     )
     SELECT "is" AS "isOurs", EXISTS (SELECT FROM counted) AS responds FROM ours`,
    [id, turn, isOpen],
  );
  return row!;
}

/** @returns false if Slack takes no answer to this request any more. */
async function isTaken(responding: Promise<unknown>): Promise<boolean> {
  try {
    await responding;
    return true;
  } catch (error) {
    if (error instanceof SlackFailure && error.kind === 'refused') return false;
    throw error;
  }
}

async function post(
  deps: Deps,
  app: SlackApp,
  { channelId, userId }: Pick<SlackRequest, 'channelId' | 'userId'>,
  { isPublic, ...message }: Reply,
): Promise<void> {
  if (channelId === null) return;
  await askSlack(deps, app.botToken, (client) =>
    isPublic
      ? client.chat.postMessage({ channel: channelId, ...message } as never)
      : client.chat.postEphemeral({ channel: channelId, user: userId, ...message } as never),
  );
}
