// The verbs of stories in Slack.
import { type Slack, startSlack } from '../../sandbox/slack/slack.ts';
import type { Config } from '../../src/config.ts';
import { type Commenting, startCommenting } from './comments.ts';
import { Visitor, words } from './visitor.ts';

export type InSlack = Commenting & {
  slack: Slack;
  channel: string;
  /** Links the account of a person, as they would. @returns their id in Slack, which has the same name. */
  link(login: string): Promise<string>;
  /** Writes a command, and waits until all that follows is done. */
  says(user: string, text: string): Promise<void>;
  /** Sends the open window, and waits the same. */
  sends(user: string, reason?: string): Promise<void>;
};

/**
 * acme with a Slack: ada and rita administer, wes writes, bob and eve read.
 * @param connection `http`, or `socket` for Socket Mode; null: nobody set it up.
 */
export async function startInSlack(
  connection: 'http' | 'socket' | null = 'http',
  config: Partial<Config> = {},
): Promise<InSlack> {
  let now = () => new Date(0);
  const slack = await startSlack({ now: () => now() });
  const { botToken, signingSecret, appToken, apiUrl } = slack;
  const tokens =
    connection === 'http' ? { signingSecret, appToken: null } : { signingSecret: null, appToken };
  const app = connection && { botToken, ...tokens };
  const acme = await startCommenting({ slack: { apiUrl, app }, ...config });
  now = () => new Date(acme.clock.now());
  slack.deliverTo(acme.app.url);
  if (connection === 'socket') slack.useSockets();
  const channel = slack.addChannel('releases');
  return {
    ...acme,
    slack,
    channel,
    async link(login) {
      const user = slack.addUser(login);
      const { slackLink } = acme.app.deps.db;
      if (await slackLink.findFirst({ where: { userId: user } })) return user;
      await slack.command(user, channel, 'status');
      await acme.quiet();
      const path = pathIn(slack.whispered(user));
      const visitor = new Visitor(acme);
      const asked = await visitor.open((await visitor.signIn(login, path)).location);
      if (!words(asked).includes(`Link the Slack user ${login}`)) throw new Error(words(asked));
      const token = new URL(path, 'https://holdfast.example').searchParams.get('token')!;
      const linked = await visitor.sendOnce('/slack/accounts', { do: 'link', token });
      if (linked.status !== 200) throw new Error(words(linked));
      return user;
    },
    async says(user, text) {
      await slack.command(user, channel, text);
      await acme.quiet();
    },
    async sends(user, reason) {
      await slack.submit(user, reason);
      await acme.quiet();
    },
    async close() {
      await acme.close();
      await slack.close();
    },
  };
}

/** The path of the link to sign in. */
export function pathIn(text: string): string {
  const found = /<https:\/\/holdfast\.example(\/slack\/accounts\?token=[\w-]+)\|/.exec(text);
  if (!found) throw new Error(`There is no link in: ${text}`);
  return found[1]!;
}
