import type { Deps } from '../../deps.ts';
import type { Attempt } from '../judge-attempt.ts';
import { renderSlack } from '../kinds/slack.ts';
import { type Action, type Message, messageOf } from '../message.ts';
import { type DeliveredType, type Notice, loadNotices } from '../notice.ts';
import type { Sender, Target } from '../post.ts';
import { type SlackApp, slackAppFor } from './slack-apps.ts';
import { askSlack, SlackFailure } from './slack-client.ts';

/**
 * To a channel of the Slack app, with buttons. What was decided replaces the message with the request, and a freeze that is
 * over leaves the message of its beginning without buttons.
 */
export const postToChannel: Sender = async (deps, target, notices) => {
  const app = await slackAppFor(deps, target.accountId, target.slackTeam);
  if (!app)
    return { status: null, error: 'Slack is not connected. Connect it in the settings of the owner.' };
  const message = messageOf(notices, { publicText: target.publicText });
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

async function post(deps: Deps, app: SlackApp, target: Target, message: Message): Promise<string> {
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
  deps: Deps,
  app: SlackApp,
  { id, slackChannel }: Target,
  [notice]: [Notice, ...Notice[]],
  message: Message,
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
const lastMessage = ({ db }: Deps, webhookId: string, subject: string, type: DeliveredType) =>
  db.outgoingDelivery.findFirst({
    where: { webhookId, subject, type, messageId: { not: null } },
    orderBy: { serial: 'desc' },
  });

/** Shows another text in a message. @returns false if somebody deleted it. */
async function update(
  deps: Deps,
  app: SlackApp,
  channel: string,
  ts: string,
  message: Message,
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
  deps: Deps,
  app: SlackApp,
  { id, slackChannel, publicText }: Target,
  notices: [Notice, ...Notice[]],
): Promise<void> {
  const [{ type, freeze, planId }] = notices;
  if ((type !== 'freeze.ended' && type !== 'freeze.deleted') || !freeze) return;
  const began = await lastMessage(deps, id, planId ?? freeze.id, 'freeze.started');
  if (!began || began.eventIds.length > notices.length) return;
  const [first, ...others] = await loadNotices(deps, began.eventIds);
  if (first)
    await update(deps, app, slackChannel!, began.messageId!, messageOf([first, ...others], { publicText }));
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

function attemptOf({ kind, reason, retryAfter }: SlackFailure): Attempt {
  if (kind === 'limited') return { status: 429, retryAfter: (retryAfter ?? 30) * 1000 };
  if (kind === 'down') return { status: null, error: `Slack does not answer (${reason}).` };
  if (gone.has(reason))
    return {
      status: 410,
      error: `The channel is gone, archived or private (${reason}). Write /holdfast subscribe in another one.`,
    };
  return { status: 403, error: `Slack refuses messages (${reason}). Connect it again in the settings.` };
}
