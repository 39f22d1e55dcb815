// `chat/` carries out what people write in comments and in Slack, once, by the use cases that the API has, and answers
// it. It has no rights of its own.
import { createHmac, timingSafeEqual, createHash } from 'node:crypto';
import type { Context } from 'hono';
import * as z from 'zod';
import { assertStorable, readLimited } from '../../api/read-request.ts';
import type { Deps } from '../../deps.ts';
import { hasSlack, type SlackApp, slackAppsOfTeam } from '../../notices/slack/slack-apps.ts';
import { nowOf } from '../../time/clock.ts';
import { isResponseUrl } from '../../notices/slack/slack-client.ts';
import { jobs } from '../../database/queue/jobs.ts';
import { readSlackCommand } from '../commands/command.ts';
import { helpFor } from './slack-text.ts';
import { cutText } from '../../cut-text.ts';

/** The most bytes of a request. */
const largestRequest = 256 * 1024;
/** Seconds that a request may be old, or ahead of our clock. */
const signatureFreshFor = 300;

/** `POST /slack/commands`. */
export const receiveSlackCommand = (deps: Deps, context: Context): Promise<Response> =>
  receive(deps, context, (form) => form, readCommandRequest);

/** `POST /slack/interactions`: pressed buttons and sent windows. */
export const receiveSlackInteraction = (deps: Deps, context: Context): Promise<Response> =>
  receive(deps, context, (form) => parsed(form['payload']), readInteraction);

/**
 * Answers a request of Slack as soon as its job is saved: Slack waits 3 s. The signature is checked on the raw bytes
 * with the secrets of the apps of the workspace that the request names.
 */
async function receive(
  deps: Deps,
  context: Context,
  contentOf: (form: Record<string, string>) => unknown,
  read: (content: unknown) => Heard | null,
): Promise<Response> {
  // Nothing can be verified then.
  if (!(await hasSlack(deps))) return context.json({ detail: 'Slack is not set up here.' }, 401);
  const signature = context.req.header('X-Slack-Signature') ?? '';
  const timestamp = context.req.header('X-Slack-Request-Timestamp') ?? '';
  const age = Math.abs(deps.clock.now() / 1000 - Number(timestamp));
  if (!/^v0=[0-9a-f]{64}$/i.test(signature) || !/^\d{1,12}$/.test(timestamp) || age > signatureFreshFor)
    return unsigned(context);
  const bytes = await readLimited(context.req.raw, largestRequest);
  const content = contentOf(Object.fromEntries(new URLSearchParams(new TextDecoder().decode(bytes))));
  const teamId = claimedTeam(content);
  const apps = teamId === null ? [] : await slackAppsOfTeam(deps, teamId);
  const app = apps.find((each) => isSignedBySlack(each, timestamp, bytes, signature));
  if (!app) {
    deps.log.warn({ team: teamId }, 'a request of Slack with a wrong signature was refused');
    return unsigned(context);
  }
  const heard = read(content);
  if (!heard) return context.json({ detail: 'This is not a request of the Slack app.' }, 400);
  assertStorable(heard, 'body');
  const answer = await acceptRequest(deps, app, heard);
  // An empty answer shows nothing, and closes a window.
  return answer ? context.json(answer) : context.body(null, 200);
}

const unsigned = (context: Context): Response =>
  context.json(
    {
      detail:
        'The signature is missing, wrong or more than 5 minutes old. Compare the signing secret with the one of the Slack app, and check the clock of this machine.',
    },
    401,
  );

function isSignedBySlack(
  { signingSecret }: SlackApp,
  timestamp: string,
  bytes: Uint8Array,
  signature: string,
): boolean {
  if (signingSecret === null) return false;
  const expected = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(bytes).digest();
  return timingSafeEqual(expected, Buffer.from(signature.slice(3), 'hex'));
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return null;
  }
}

/** The most requests of one person of Slack in ten minutes. */
const mostRequests = 60;
const limitedFor = 10 * 60_000;

const insert = `
  INSERT INTO slack_requests (id, app, team_id, user_id, channel_id, response_url, asked, received_at)
  VALUES ($3, $4, $5, $6, $7, $8, $9::jsonb, $10::timestamptz) ON CONFLICT DO NOTHING RETURNING 1`;

/**
 * Accepts a verified request, over HTTP and by Socket Mode: saves it with the job that answers it, once.
 * @returns what only the person sees at once; null: the job answers.
 */
export async function acceptRequest(
  deps: Deps,
  app: SlackApp,
  { asked, name, responseUrl, ...heard }: Heard,
): Promise<{ response_type: 'ephemeral'; text: string } | null> {
  if (!asked) return null;
  const { teamId, userId, channelId, teamName, userName } = heard;
  if (asked.kind === 'command' && (readSlackCommand(asked.text)?.verb ?? 'help') === 'help')
    return { response_type: 'ephemeral', text: helpFor(asked.text) };
  const now = nowOf(deps.clock);
  const receivedAt = { gt: new Date(now.getTime() - limitedFor) };
  const earlier = await deps.db.slackRequest.count({
    where: { app: app.key, teamId, userId, receivedAt },
  });
  if (earlier >= mostRequests)
    return {
      response_type: 'ephemeral',
      text: '*Nothing was changed.* Too many requests. Wait ten minutes.',
    };
  const id = createHash('sha256').update(`${app.key} ${teamId} ${userId} ${name}`).digest('hex');
  const answerTo =
    responseUrl !== null && isResponseUrl(deps.config.slack.apiUrl, responseUrl) ? responseUrl : null;
  const values = [id, app.key, teamId, userId, channelId, answerTo];
  const content = JSON.stringify({ ...asked, teamName, userName });
  await deps.queue.sendAfter(
    { name: 'save-slack-request', text: insert, values: [...values, content, now] },
    [jobs.answerSlack(id)],
  );
  return null;
}

// What Slack sends: commands as a form, buttons and windows as JSON in a field of a form. Over Socket Mode the same
// objects come without a form. Only the fields that we read.

/** The buttons of our messages. */
const buttons = ['approve', 'deny', 'extend', 'end'] as const;
type Button = (typeof buttons)[number];

/** What somebody asked for. */
export type SlackInput =
  | { kind: 'command'; text: string; triggerId: string }
  | { kind: 'button'; button: Button; value: string; triggerId: string }
  /** @property of the request whose window was sent. @property reason what they typed in it. */
  | { kind: 'window'; of: string; reason: string | null };

/** A request of Slack. */
export type Heard = {
  teamId: string;
  teamName: string;
  userId: string;
  userName: string;
  channelId: string | null;
  responseUrl: string | null;
  /** What is the same when Slack sends the request again. */
  name: string;
  /** Null for what we do not know. */
  asked: SlackInput | null;
};

const id = z.string().regex(/^[A-Z0-9]{1,40}$/);
const slackText = (most: number) => z.string().max(most);

const command = z.object({
  team_id: id,
  team_domain: slackText(200).default(''),
  user_id: id,
  user_name: slackText(200).default(''),
  channel_id: id,
  text: slackText(10_000).default(''),
  response_url: slackText(1_000),
  trigger_id: slackText(200).min(1),
});

/** @property team null where an app is installed in a whole organization: then the person has the workspace. */
const person = z.object({
  team: z.object({ id, domain: slackText(200).default('') }).nullish(),
  user: z.object({
    id,
    username: slackText(200).optional(),
    name: slackText(200).optional(),
    team_id: id.optional(),
  }),
  trigger_id: slackText(200).min(1),
});

const pressed = person.extend({
  type: z.literal('block_actions'),
  channel: z.object({ id }).optional(),
  response_url: slackText(1_000).optional(),
  actions: z.array(z.object({ action_id: slackText(255), value: slackText(2_000).default('') })).min(1),
});

const sent = person.extend({
  type: z.literal('view_submission'),
  view: z.object({
    private_metadata: slackText(3_000),
    state: z.object({ values: z.record(z.string(), z.record(z.string(), z.unknown())) }).optional(),
  }),
});

/** The workspace that a request says it comes from, before anybody checked that; null if it says none. */
function claimedTeam(body: unknown): string | null {
  const {
    team_id: ofCommand,
    team,
    user,
  } = (body ?? {}) as {
    team_id?: unknown;
    team?: { id?: unknown } | null;
    user?: { team_id?: unknown } | null;
  };
  return id.safeParse(ofCommand ?? team?.id ?? user?.team_id).data ?? null;
}

/** Reads a command. @returns null if it is none. */
export function readCommandRequest(body: unknown): Heard | null {
  const { data } = command.safeParse(body);
  if (!data) return null;
  return {
    teamId: data.team_id,
    teamName: data.team_domain,
    userId: data.user_id,
    userName: data.user_name,
    channelId: data.channel_id,
    responseUrl: data.response_url,
    name: data.trigger_id,
    asked: { kind: 'command', text: data.text, triggerId: data.trigger_id },
  };
}

/** Reads a pressed button or a sent window. @returns null if it is none of ours. */
export function readInteraction(body: unknown): Heard | null {
  const button = pressed.safeParse(body).data;
  if (button) {
    const [{ action_id: action, value }] = button.actions as [{ action_id: string; value: string }];
    const found = buttons.find((each) => action === `holdfast_${each}`);
    const asked = found && ({ kind: 'button', button: found, value, triggerId: button.trigger_id } as const);
    return {
      ...senderOf(button),
      channelId: button.channel?.id ?? null,
      responseUrl: button.response_url ?? null,
      name: button.trigger_id,
      asked: asked ?? null,
    };
  }
  const window = sent.safeParse(body).data;
  if (!window) return null;
  const of = window.view.private_metadata;
  const typed = window.view.state?.values['reason']?.['reason'] as { value?: unknown } | undefined;
  const reason = typeof typed?.value === 'string' ? cutText(typed.value.trim(), 3_000) : '';
  // A window does its thing once, however often it is sent.
  const asked = { kind: 'window', of, reason: reason === '' ? null : reason } as const;
  return { ...senderOf(window), channelId: null, responseUrl: null, name: `window of ${of}`, asked };
}

const senderOf = ({ team, user }: z.output<typeof person>) => ({
  // Whoever is in no workspace was not admitted.
  teamId: (team?.id ?? user.team_id)!,
  teamName: team?.domain ?? '',
  userId: user.id,
  userName: user.username ?? user.name ?? '',
});
