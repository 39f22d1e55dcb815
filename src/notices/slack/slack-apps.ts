import { randomUUID } from 'node:crypto';
import { nowOf } from '../../time/clock.ts';
import { CannotUnseal, seal, sealedAnew, unsealWithAny } from '../../database/secret-key.ts';
import { conflict, invalid, type Problem } from '../../errors.ts';
import type { Actor } from '../../events/actor.ts';
import { appendEvent } from '../../events/append-event.ts';
import { Prisma, type Account, type SlackApp as SlackAppRow } from '../../generated/prisma/client.ts';
import { askSlack, SlackFailure } from './slack-client.ts';
import type { Ground } from '../../database/ground.ts';

// Slack apps: one for everybody from the environment, and one of each owner that set up its own. The secrets of the
// latter are sealed in the database, and shown to nobody.

export type SlackApp = {
  /** The id of its row, or `environment`. */
  key: string;
  /** Whose repositories it may change; null: those of every owner. Whoever has its secret can speak for its people. */
  accountId: bigint | null;
  botToken: string;
  /** For requests over HTTP. */
  signingSecret: string | null;
  /** For Socket Mode. */
  appToken: string | null;
};

type Store = Pick<Ground, 'db' | 'config' | 'log'>;

const environment = 'environment';

const ofEnvironment = ({ config }: Pick<Ground, 'config'>): SlackApp[] =>
  config.slack.app ? [{ key: environment, accountId: null, ...config.slack.app }] : [];

/** Whether anybody set up Slack. */
export const hasSlack = async (deps: Store): Promise<boolean> =>
  deps.config.slack.app !== null || (await deps.db.slackApp.findFirst({ select: { id: true } })) !== null;

/** The apps that a request of a workspace can come from. */
export const slackAppsOfTeam = async (deps: Store, teamId: string): Promise<SlackApp[]> => [
  ...ofEnvironment(deps),
  ...(await saved(deps, { teamId })),
];

/** Every app that is reached by Socket Mode. */
export const slackAppsWithSockets = async (deps: Store): Promise<SlackApp[]> =>
  [...ofEnvironment(deps), ...(await saved(deps, { appToken: { not: null } }))].filter(
    ({ appToken }) => appToken,
  );

/** The app with this key; null if it is gone. */
export async function slackAppOf(deps: Store, key: string): Promise<SlackApp | null> {
  const [app] = key === environment ? ofEnvironment(deps) : await saved(deps, { id: key });
  return app ?? null;
}

/** Whose apps these are, by their keys: the logins of their owners. The one of this service is nobody's. */
export async function ownersOfSlackApps(
  { db }: Pick<Ground, 'db'>,
  keys: string[],
): Promise<Map<string, string>> {
  const id = { in: keys.filter((key) => key !== environment) };
  const rows = await db.slackApp.findMany({ where: { id }, select: { id: true, account: true } });
  return new Map(rows.map(({ id, account }) => [id, account.login]));
}

/** The app that posts for an owner in a workspace: its own, else the one of everybody. */
export async function slackAppFor(
  deps: Store,
  accountId: bigint,
  teamId: string | null,
): Promise<SlackApp | null> {
  const [own] = teamId === null ? [] : await saved(deps, { accountId, teamId });
  return own ?? ofEnvironment(deps)[0] ?? null;
}

async function saved(deps: Store, where: Prisma.SlackAppWhereInput): Promise<SlackApp[]> {
  const rows = await deps.db.slackApp.findMany({ where, orderBy: { createdAt: 'asc' } });
  return rows.flatMap((row) => {
    const app = opened(deps, row);
    if (!app)
      deps.log.error({ team: row.teamName }, 'a Slack app in the database is sealed with another key');
    return app ?? [];
  });
}

type Secrets = { botToken: string; signingSecret: string | null; appToken: string | null };

/** Seals or opens the secrets of an app. @param id of its row, which is part of what each secret is for. */
const eachSecret = (id: string, of: Secrets, change: (purpose: string, text: string) => string): Secrets => {
  const changed = <Text extends string | null>(field: keyof Secrets, text: Text) =>
    text && change(`${field} of Slack app ${id}`, text);
  return {
    botToken: changed('botToken', of.botToken),
    signingSecret: changed('signingSecret', of.signingSecret),
    appToken: changed('appToken', of.appToken),
  };
};

/** @returns null if no key opens it. */
function opened({ config }: Store, row: SlackAppRow): SlackApp | null {
  try {
    const secrets = eachSecret(row.id, row, (purpose, sealed) => unsealWithAny(config, purpose, sealed));
    return { key: row.id, accountId: row.accountId, ...secrets };
  } catch (error) {
    if (error instanceof CannotUnseal) return null;
    throw error;
  }
}

/** Like `resealWebhooks`, for the secrets of Slack apps. */
export async function resealSlackApps({ db, config }: Pick<Ground, 'db' | 'config'>): Promise<void> {
  if (config.secretKeyPrevious === null) return;
  for (const row of await db.slackApp.findMany()) {
    const { id, botToken, signingSecret, appToken } = row;
    const data = eachSecret(id, row, (purpose, sealed) => sealedAnew(config, purpose, sealed));
    // Somebody may have connected it again meanwhile.
    if (data.botToken !== botToken)
      await db.slackApp.updateMany({ where: { id, botToken, signingSecret, appToken }, data });
  }
}

/** The workspace that an owner connected; null: none. Without secrets. */
export const connectedSlack = ({ db }: Pick<Ground, 'db'>, accountId: bigint) =>
  db.slackApp.findUnique({
    where: { accountId },
    select: { teamName: true, createdBy: true, createdAt: true, signingSecret: true },
  });

const uniqueViolation = 'P2002';

const problem = (field: string, message: string): Problem => ({
  path: ['body', field],
  message,
  type: 'value_error',
});

/**
 * Connects the Slack app of an owner, in the place of an earlier one. Slack says which workspace the tokens belong to.
 * @throws Refusal invalid if Slack does not know a token; conflict if the app serves another owner, or nothing can seal.
 */
export async function connectSlack(
  deps: Ground,
  actor: Actor,
  account: Account,
  given: Secrets,
): Promise<void> {
  const { secretKey } = deps.config;
  if (secretKey === null)
    throw conflict('The tokens cannot be encrypted: ask the people who run this service to set SECRET_KEY.');
  checkShapes(given);
  const bot = await askSlack(deps, given.botToken, (client) => client.auth.test()).catch(
    refusedToken('bot_token'),
  );
  const { team_id: teamId, team, bot_id: botId } = bot;
  if (!teamId || !botId) throw invalid([problem('bot_token', 'Enter the token of a bot, not of a person.')]);
  if (given.appToken)
    await askSlack(deps, given.appToken, (client) => client.apps.connections.open()).catch(
      refusedToken('app_token'),
    );
  const now = nowOf(deps.clock);
  const before = await deps.db.slackApp.findUnique({ where: { accountId: account.id } });
  // The same app keeps its id, and so the accounts that people linked.
  const isSame = before?.teamId === teamId && before.botId === botId;
  const id = isSame ? before.id : randomUUID();
  const data = {
    teamId,
    teamName: team ?? teamId,
    botId,
    ...eachSecret(id, given, (purpose, secret) => seal(secretKey, purpose, secret)),
    createdAt: now,
    createdBy: actor,
  };
  try {
    await deps.db.$transaction(async (tx) => {
      if (before && !isSame) await forget(tx, before.id);
      await tx.slackApp.upsert({
        where: { id },
        create: { id, accountId: account.id, ...data },
        update: data,
      });
      const metadata = { slack_team_id: teamId, slack_team: data.teamName };
      await appendEvent(tx, { accountId: account.id }, { type: 'slack_app.create', metadata }, actor, now);
    });
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === uniqueViolation)
      throw conflict(
        'This Slack app already serves another owner. Create one for this owner, or ask the people who run this service to set SLACK_BOT_TOKEN for all owners.',
      );
    throw error;
  }
  deps.log.info({ account: account.login, team: data.teamName, by: actor.name }, 'Slack connected');
}

function checkShapes({ botToken, signingSecret, appToken }: Secrets): void {
  const problems = [
    ...(/^xoxb-[\w-]{1,500}$/.test(botToken)
      ? []
      : [problem('bot_token', 'Enter the bot token, which begins with xoxb-.')]),
    ...(signingSecret === null || /^[\x21-\x7e]{16,200}$/.test(signingSecret)
      ? []
      : [problem('signing_secret', 'Enter the signing secret: 32 letters and digits.')]),
    ...(appToken === null || /^xapp-[\w-]{1,500}$/.test(appToken)
      ? []
      : [problem('app_token', 'Enter the app-level token, which begins with xapp-.')]),
    ...(signingSecret === null && appToken === null
      ? [problem('signing_secret', 'Enter the signing secret, or the app-level token for Socket Mode.')]
      : []),
  ];
  if (problems.length > 0) throw invalid(problems);
}

/** @throws Refusal invalid if Slack refuses the token; conflict while it does not answer. */
const refusedToken =
  (field: string) =>
  (error: unknown): never => {
    if (!(error instanceof SlackFailure)) throw error;
    if (error.kind !== 'refused') throw conflict('Slack does not answer. Try again in a moment.');
    throw invalid([problem(field, `Slack refuses this token (${error.reason}). Copy it again.`)]);
  };

/** Disconnects the Slack app of an owner, and forgets who linked their accounts to it. */
export async function disconnectSlack(deps: Ground, actor: Actor, account: Account): Promise<void> {
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    const app = await tx.slackApp.findUnique({ where: { accountId: account.id } });
    if (!app) return;
    await forget(tx, app.id);
    const metadata = { slack_team_id: app.teamId, slack_team: app.teamName };
    await appendEvent(tx, { accountId: account.id }, { type: 'slack_app.delete', metadata }, actor, now);
  });
}

async function forget(tx: Prisma.TransactionClient, app: string): Promise<void> {
  await tx.slackApp.delete({ where: { id: app } });
  await tx.slackLink.deleteMany({ where: { app } });
  await tx.slackOffer.deleteMany({ where: { app } });
}

/** What the bot may do. */
const botScopes = ['commands', 'chat:write', 'chat:write.public', 'im:write', 'users:read'];

/**
 * The page at Slack that makes the app, filled in: Slack takes the app in a link.
 * @param publicUrl where Slack reaches us; null: the app uses Socket Mode.
 */
export function newAppUrl(publicUrl: string | null): string {
  const manifest = {
    display_information: {
      name: 'Holdfast',
      description: 'Merge freezes for GitHub',
      background_color: '#1f2328',
    },
    features: {
      bot_user: { display_name: 'Holdfast', always_online: true },
      slash_commands: [
        {
          command: '/holdfast',
          description: 'Freeze, extend and end freezes, and let pull requests through',
          usage_hint: 'freeze acme/web 2h INC-4711 | status | help',
          should_escape: false,
          ...(publicUrl !== null && { url: `${publicUrl}/slack/commands` }),
        },
      ],
    },
    oauth_config: { scopes: { bot: botScopes } },
    settings: {
      interactivity: {
        is_enabled: true,
        ...(publicUrl !== null && { request_url: `${publicUrl}/slack/interactions` }),
      },
      org_deploy_enabled: false,
      socket_mode_enabled: publicUrl === null,
      token_rotation_enabled: false,
    },
  };
  const query = new URLSearchParams({ new_app: '1', manifest_json: JSON.stringify(manifest) });
  return `https://api.slack.com/apps?${query}`;
}
