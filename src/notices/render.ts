import { renderDiscord } from './kinds/discord.ts';
import { renderGoogleChat } from './kinds/google-chat.ts';
import { renderSlack } from './kinds/slack.ts';
import { renderTeams } from './kinds/teams.ts';
import type { Message } from './message.ts';

/** The body of a request to each kind of chat, within its limits. */
export const renderers = {
  slack: renderSlack,
  teams: renderTeams,
  discord: renderDiscord,
  google_chat: renderGoogleChat,
} satisfies Record<string, (message: Message) => object>;
