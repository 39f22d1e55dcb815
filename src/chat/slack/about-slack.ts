import { authorizeOwner } from '../../auth/authorize.ts';
import { compileNameGlob } from '../../conditions/patterns/compile-name-glob.ts';
import { ParseError } from '../../conditions/scanner.ts';
import type { Deps } from '../../deps.ts';
import { conflict } from '../../errors.ts';
import { createChannelWebhook, deleteWebhook, webhooksOfChannel } from '../../notices/manage-webhooks.ts';
import { setWantsMessages, unlink } from '../../notices/slack/slack-links.ts';
import type { SlackRequest } from '../../generated/prisma/client.ts';
import type { SlackOrder } from './slack-order.ts';
import { plain } from '../../notices/slack/slack-words.ts';
import { nothingChanged } from './slack-text.ts';

/** Tells the channel what happens in an owner's repositories, or in some of them. For admins of the owner. */
export async function subscribe(order: SlackOrder): Promise<undefined> {
  const { deps, account, caller, actor, who, words } = order;
  await authorizeOwner(deps, caller, account.login, 'change', { isLive: true });
  const globs = words.split(/[\s,]+/).filter(Boolean);
  if (globs[0]?.toLowerCase() === account.loginKey) globs.shift();
  for (const glob of globs) assertGlob(glob);
  const repositories = globs.length > 0 && !globs.includes('*') ? globs : null;
  const what = repositories
    ? `${repositories.map((glob) => plain(glob)).join(', ')} of ${account.login}`
    : `all repositories of ${account.login}`;
  await createChannelWebhook(deps, actor, account, { ...channelOf(order), repositories }, (tx) =>
    order.saveAnswer(
      tx,
      `${who} subscribed this channel to ${what}. In a private channel, invite the app first. To end it, write \`/holdfast unsubscribe\`.`,
    ),
  );
}

function assertGlob(glob: string): void {
  try {
    compileNameGlob(glob);
  } catch (error) {
    if (error instanceof ParseError) throw conflict(`"${glob}" is not a name or a pattern of names.`);
    throw error;
  }
}

/** Ends that. */
export async function unsubscribe(order: SlackOrder): Promise<undefined> {
  const { deps, account, caller, actor, who } = order;
  await authorizeOwner(deps, caller, account.login, 'change', { isLive: true });
  const all = await webhooksOfChannel(deps, channelOf(order));
  const own = all.filter(({ accountId }) => accountId === account.id);
  if (own.length === 0) throw conflict(`This channel is not subscribed to ${account.login}.`);
  for (const { id } of own) await deleteWebhook(deps, actor, account, id);
  await order.saveAnswer(deps.db, `${who} ended the subscription of this channel to ${account.login}.`);
}

function channelOf({ begun }: SlackOrder): { slackTeam: string; slackChannel: string } {
  if (begun.channelId === null) throw conflict('Write this in the channel.');
  return { slackTeam: begun.teamId, slackChannel: begun.channelId };
}

/** Changes what Holdfast keeps about a person of Slack. @returns what they read. */
export async function changePerson(
  deps: Deps,
  request: SlackRequest,
  verb: 'notify' | 'unlink',
  words: string,
): Promise<string> {
  if (verb === 'unlink') {
    await unlink(deps, request);
    return 'Your accounts are no longer linked.';
  }
  const isOn = /^on$/i.test(words);
  if (!isOn && !/^off$/i.test(words)) return nothingChanged('Write /holdfast notify on, or off.');
  await setWantsMessages(deps, request, isOn);
  return isOn
    ? 'Holdfast tells you when a freeze blocks your pull requests, and when it ends.'
    : 'Holdfast sends you no messages about your pull requests.';
}
