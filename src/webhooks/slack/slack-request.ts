import * as z from 'zod';

// What Slack sends: commands as a form, buttons and windows as JSON in a field of a form. Over Socket Mode the same
// objects come without a form. Only the fields that we read.

/** The buttons of our messages. */
export const buttons = ['approve', 'deny', 'extend', 'end'] as const;
type Button = (typeof buttons)[number];

/** What somebody asked for. */
export type Asked =
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
  asked: Asked | null;
};

const id = z.string().regex(/^[A-Z0-9]{1,40}$/);
const text = (most: number) => z.string().max(most);

const command = z.object({
  team_id: id,
  team_domain: text(200).default(''),
  user_id: id,
  user_name: text(200).default(''),
  channel_id: id,
  text: text(10_000).default(''),
  response_url: text(1_000),
  trigger_id: text(200).min(1),
});

const person = z.object({
  team: z.object({ id, domain: text(200).default('') }),
  user: z.object({ id, username: text(200).optional(), name: text(200).optional() }),
  trigger_id: text(200).min(1),
});

const pressed = person.extend({
  type: z.literal('block_actions'),
  channel: z.object({ id }).optional(),
  response_url: text(1_000).optional(),
  actions: z.array(z.object({ action_id: text(255), value: text(2_000).default('') })).min(1),
});

const sent = person.extend({
  type: z.literal('view_submission'),
  view: z.object({
    private_metadata: text(3_000),
    state: z.object({ values: z.record(z.string(), z.record(z.string(), z.unknown())) }).optional(),
  }),
});

/** The workspace that a request says it comes from, before anybody checked that; null if it says none. */
export function claimedTeam(body: unknown): string | null {
  const { team_id: ofCommand, team } = (body ?? {}) as { team_id?: unknown; team?: { id?: unknown } | null };
  return id.safeParse(ofCommand ?? team?.id).data ?? null;
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
      ...whoOf(button),
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
  const reason = typeof typed?.value === 'string' ? typed.value.trim().slice(0, 3_000) : '';
  // A window does its thing once, however often it is sent.
  const asked = { kind: 'window', of, reason: reason === '' ? null : reason } as const;
  return { ...whoOf(window), channelId: null, responseUrl: null, name: `window of ${of}`, asked };
}

const whoOf = ({ team, user }: z.output<typeof person>) => ({
  teamId: team.id,
  teamName: team.domain,
  userId: user.id,
  userName: user.username ?? user.name ?? '',
});
