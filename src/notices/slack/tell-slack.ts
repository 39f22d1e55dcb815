import { jobs } from '../../database/queue/jobs.ts';
import { nowOf } from '../../time/clock.ts';
import type { DeliveryAttempt } from '../judge-attempt.ts';
import { type Action, type NoticeMessage, messageOfNotice } from '../message.ts';
import { type DeliveredType, type Notice, loadNotices } from '../notice.ts';
import type { Sender, PostTarget } from '../post.ts';
import { renderSlack } from '../render.ts';
import { type SlackApp, slackAppFor } from './slack-apps.ts';
import { askSlack, SlackFailure } from './slack-client.ts';
import type { Ground } from '../../database/ground.ts';

/**
 * To a channel of the Slack app, with buttons. What was decided replaces the message with the request, and a freeze that is
 * over leaves the message of its beginning without buttons.
 */
export const postToChannel: Sender = async (deps, target, notices) => {
  const app = await slackAppFor(deps, target.accountId, target.slackTeam);
  if (!app)
    return { status: null, error: 'Slack is not connected. Connect it in the settings of the owner.' };
  const message = messageOfNotice(notices, { publicText: target.publicText });
  try {
    await withdrawButtons(deps, app, target, notices);
    const replaced = await replaceRequest(deps, app, target, notices, message);
    const ts = replaced ?? (await post(deps, app, target, { ...message, actions: actionsOf(notices) }));
    return { status: 200, messageId: ts };
  } catch (error) {
    if (!(error instanceof SlackFailure)) throw error;
    return attemptOf(error);
  }
};

async function post(
  deps: Ground,
  app: SlackApp,
  target: PostTarget,
  message: NoticeMessage,
): Promise<string> {
  const { text, blocks } = renderSlack(message);
  const channel = target.slackChannel!;
  const posted = await askSlack(deps, app.botToken, (client) =>
    client.chat.postMessage({ channel, text, blocks: blocks as never, unfurl_links: false }),
  );
  return posted.ts!;
}

const decided = /^(deployment_)?exemption\.(approved|denied|revoked|expired)$/;

/** Shows what became of a request in its message. @returns its id; null if there is no such message. */
async function replaceRequest(
  deps: Ground,
  app: SlackApp,
  { id, slackChannel }: PostTarget,
  [notice]: [Notice, ...Notice[]],
  message: NoticeMessage,
): Promise<string | null> {
  const kind = decided.exec(notice.type);
  if (!kind || !notice.exemption) return null;
  const request = await lastMessage(
    deps,
    id,
    notice.exemption.id,
    kind[1] ? 'deployment_exemption.requested' : 'exemption.requested',
  );
  const ts = request?.messageId;
  return ts && (await update(deps, app, slackChannel!, ts, message)) ? ts : null;
}

/** The last message that told the channel of something, of one type. */
const lastMessage = ({ db }: Ground, webhookId: string, subject: string, type: DeliveredType) =>
  db.outgoingDelivery.findFirst({
    where: { webhookId, subject, type, messageId: { not: null } },
    orderBy: { serial: 'desc' },
  });

/** Shows another text in a message. @returns false if somebody deleted it. */
async function update(
  deps: Ground,
  app: SlackApp,
  channel: string,
  ts: string,
  message: NoticeMessage,
): Promise<boolean> {
  const { text, blocks } = renderSlack(message);
  try {
    await askSlack(deps, app.botToken, (client) =>
      client.chat.update({ channel, ts, text, blocks: blocks as never }),
    );
    return true;
  } catch (error) {
    if (error instanceof SlackFailure && error.kind === 'refused') return false;
    throw error;
  }
}

/** Takes the buttons from the message that a freeze began, or those of a plan all did, once they are over. */
async function withdrawButtons(
  deps: Ground,
  app: SlackApp,
  { id, slackChannel, publicText }: PostTarget,
  notices: [Notice, ...Notice[]],
): Promise<void> {
  const [{ type, freeze, planId }] = notices;
  if ((type !== 'freeze.ended' && type !== 'freeze.deleted') || !freeze) return;
  const began = await lastMessage(deps, id, planId ?? freeze.id, 'freeze.started');
  if (!began || began.eventIds.length > notices.length) return;
  const [first, ...others] = await loadNotices(deps, began.eventIds);
  if (first)
    await update(
      deps,
      app,
      slackChannel!,
      began.messageId!,
      messageOfNotice([first, ...others], { publicText }),
    );
}

/** The buttons below a message. Whoever presses one is checked like somebody who writes a command. */
function actionsOf(notices: [Notice, ...Notice[]]): Action[] | undefined {
  const [{ type, exemption, freeze, planId }] = notices;
  if (type.endsWith('exemption.requested') && exemption) {
    const value = JSON.stringify({ exemption: exemption.id });
    return [
      { id: 'holdfast_approve', label: 'Approve', value, style: 'primary' },
      { id: 'holdfast_deny', label: 'Deny…', value, style: 'danger' },
    ];
  }
  if (type !== 'freeze.started' || !freeze) return undefined;
  const value = JSON.stringify(notices.length > 1 && planId ? { plan: planId } : { freeze: freeze.id });
  return [
    ...(freeze['end'] === null ? [] : [{ id: 'holdfast_extend', label: 'Extend 1 h', value }]),
    { id: 'holdfast_end', label: 'End…', value, style: 'danger' },
  ];
}

/** Slack's words for a channel that takes no more messages. */
const gone = new Set(['channel_not_found', 'is_archived', 'not_in_channel']);

function attemptOf({ kind, reason, retryAfter }: SlackFailure): DeliveryAttempt {
  if (kind === 'limited') return { status: 429, retryAfter: (retryAfter ?? 30) * 1000 };
  if (kind === 'down') return { status: null, error: `Slack does not answer (${reason}).` };
  if (gone.has(reason))
    return {
      status: 410,
      error: `The channel is gone, archived or private (${reason}). Write /holdfast subscribe in another one.`,
    };
  return { status: 403, error: `Slack refuses messages (${reason}). Connect it again in the settings.` };
}

// Authors of blocked pull requests hear of freezes by direct messages. Each owner with people who linked their accounts
// has one webhook of its own for that, which nobody sees: so the change that begins a freeze saves what to tell, like
// for every other receiver, and waits for nothing.

/** Milliseconds in which the pull requests of a freeze are usually looked at. */
const untilLookedAt = 5_000;

/** Whom to tell is known when the pull requests were looked at: that is a job of its own. */
export const tellPeople: Sender = async (deps, _target, _notices, { id, eventIds }) => {
  await deps.queue.send([jobs.tellAuthors(id, eventIds, new Date(deps.clock.now() + untilLookedAt))]);
  return { status: 200 };
};

/** Gives each owner whose people want messages its webhook. Called by the sweep, and when somebody links an account. */
export async function hearForPeople({
  db,
  config,
  clock,
}: Pick<Ground, 'db' | 'config' | 'clock'>): Promise<void> {
  const everybody = config.slack.app !== null;
  await db.$executeRaw`
    INSERT INTO outgoing_webhooks (id, account_id, kind, sealed_url, shown_url, repositories, events, created_at, created_by)
    SELECT gen_random_uuid(), a.id, 'slack_people', '', 'direct messages in Slack', '{}',
      '{freeze.started,freeze.ended,freeze.deleted}', ${nowOf(clock)}, '{"type": "application", "id": "", "name": "Holdfast"}'
    FROM accounts a
    WHERE EXISTS (SELECT FROM installations i WHERE i.account_id = a.id AND i.deleted_at IS NULL)
      AND EXISTS (
        SELECT FROM slack_links l LEFT JOIN slack_apps s ON s.id::text = l.app
        WHERE l.wants_messages AND (s.account_id = a.id OR (l.app = 'environment' AND ${everybody})))
    ON CONFLICT DO NOTHING`;
}
