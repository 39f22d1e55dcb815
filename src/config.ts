import type { BlockList } from 'node:net';
import * as z from 'zod';
import {
  hasKnownSslMode,
  hosts,
  httpUrl,
  isSentInHeader,
  misnamedIn,
  number,
  originUrl,
  type PaceRange,
  paceRange,
  proxies,
  readSlackApp,
  secret,
  type SlackConfig,
  sslModes,
} from './config-values.ts';
import { readDotEnv, UnreadableDotEnv } from './dot-env.ts';
import { readPrivateKey } from './private-key.ts';
import { readSecretFiles, secretFiles, sourceOf } from './secret-files.ts';

/** The GitHub App that the service acts as: from the environment, or stored by the setup page. */
export type AppCredentials = {
  id: number;
  /** PEM. */
  privateKey: string;
  webhookSecret: string;
  /** The App's OAuth client, for signing in to pages. */
  oauth: { clientId: string; clientSecret: string } | null;
};

/** The second App, which puts rulesets in force: its id and its key as PEM. */
export type LockCredentials = Pick<AppCredentials, 'id' | 'privateKey'>;
export type Config = {
  port: number;
  host: string;
  publicUrl: string;
  /**
   * `connectionString` of a PostgreSQL, and the folder where that is noted; or the folder of the embedded database.
   */
  database: { connectionString: string; noteIn?: string } | { dataDir: string };
  app: AppCredentials;
  /** Null: the one that somebody made on the settings page, if any. */
  lock: LockCredentials | null;
  /** Signs cookies and encrypts the secrets in the database. */
  secretKey: string | null;
  /** The former SECRET_KEY. It still opens what it signed and encrypted. */
  secretKeyPrevious: string | null;
  /** Without a slash at the end. */
  githubApiUrl: string;
  statusContext: string;
  /** The bounds of the pace that an installation learns; if both are equal, the pace is fixed. */
  statusWritesPerMinute: PaceRange;
  /** In total; half of it for one address. */
  strangerQuestionsPerMinute: number;
  /** For each person and key: questions that an installation or the App pays. */
  callerQuestionsPerMinute: number;
  /** The proxies whose `X-Forwarded-For` counts. */
  trustedProxies: BlockList;
  /** Names, globs, addresses and networks that webhooks reach though they are not public. */
  webhookAllowedHosts: string[];
  /** The proxy to http addresses; null: none. */
  httpProxy: string | null;
  /** The proxy to https addresses; null: none. */
  httpsProxy: string | null;
  /** Hosts that are reached without a proxy. */
  noProxy: string;
  /** Who sends it may read the metrics; null: nobody may. */
  metricsToken: string | null;
  slack: SlackConfig;
  role: 'all' | 'web' | 'worker';
  logLevel: string;
  logFormat: 'json' | 'pretty';
};

/** The configuration of the process. Without an App, it serves the setup page until there is one. */
export type StartConfig = Omit<Config, 'app'> & { app: AppCredentials | null };

/** Every variable that the service reads, with its purpose. A test compares the table in the documentation. */
export const variables = {
  PORT: 'TCP port to listen on (3000; 0 takes a free one)',
  HOST: 'address to listen on (127.0.0.1; with PUBLIC_URL all)',
  PUBLIC_URL: 'where people and GitHub reach the service (http://localhost:PORT)',
  DATABASE_URL: 'PostgreSQL 15 or newer; unset: the embedded database in DATA_DIR',
  DATABASE_URL_FILE: 'a file with the URL, instead of DATABASE_URL',
  DATA_DIR: 'folder of the embedded database (./data)',
  APP_ID: "the GitHub App's id; without it, PRIVATE_KEY and WEBHOOK_SECRET the App that /setup made is used",
  PRIVATE_KEY: "the App's private key, as PEM (\\n for line breaks is fine) or as base64 of the PEM",
  PRIVATE_KEY_FILE: 'a file with the private key, instead of PRIVATE_KEY',
  PRIVATE_KEY_PATH: 'another name for PRIVATE_KEY_FILE',
  WEBHOOK_SECRET: "the App's webhook secret",
  WEBHOOK_SECRET_FILE: 'a file with the webhook secret, instead of WEBHOOK_SECRET',
  CLIENT_ID: "the App's client id, for signing in to the pages of private repositories",
  CLIENT_SECRET: "the App's client secret, with CLIENT_ID",
  CLIENT_SECRET_FILE: 'a file with the client secret, instead of CLIENT_SECRET',
  LOCK_APP_ID: 'the id of the second App, which makes freezes block at once (none)',
  LOCK_PRIVATE_KEY: "the second App's private key, in the forms of PRIVATE_KEY",
  LOCK_PRIVATE_KEY_FILE: 'a file with that key, instead of LOCK_PRIVATE_KEY',
  LOCK_PRIVATE_KEY_PATH: 'another name for LOCK_PRIVATE_KEY_FILE',
  SECRET_KEY:
    'at least 32 characters that sign cookies and encrypt secrets in the database; the same for all replicas',
  SECRET_KEY_FILE: 'a file with the key, instead of SECRET_KEY',
  SECRET_KEY_PREVIOUS:
    'the key before SECRET_KEY: it still opens cookies and secrets while you change SECRET_KEY',
  SECRET_KEY_PREVIOUS_FILE: 'a file with that key, instead of SECRET_KEY_PREVIOUS',
  GITHUB_API_URL: 'https://api.github.com; https://HOST/api/v3 for GitHub Enterprise Server',
  STATUS_CONTEXT: 'name of the commit status (holdfast/freeze)',
  STATUS_WRITES_PER_MINUTE:
    'most statuses per minute and installation (170): the pace starts at 75 and adapts to GitHub; 75-75 fixes it',
  STRANGER_QUESTIONS_PER_MINUTE:
    'most looks of pages at GitHub per minute for visitors that Holdfast does not know, half of them for one address (30)',
  CALLER_QUESTIONS_PER_MINUTE:
    'most questions per minute that Holdfast asks GitHub on behalf of one person or key (60)',
  TRUSTED_PROXIES: 'trusted proxies, whose X-Forwarded-For counts, such as 10.0.0.0/8,192.0.2.7 (none)',
  WEBHOOK_ALLOWED_HOSTS:
    'hosts that outgoing webhooks and calendars of all owners reach, on every port from 1024 and every path, although they are not public, or by http: names, globs, addresses and networks, such as chat.corp.example,*.internal,10.1.0.0/16 (none)',
  HTTPS_PROXY:
    'proxy to https addresses: GitHub, Slack, outgoing webhooks and calendars, such as http://proxy.corp.example:3128',
  HTTP_PROXY: 'proxy to http addresses, of the same form',
  NO_PROXY: 'hosts that are reached without these proxies, such as .corp.example,10.1.2.3',
  METRICS_TOKEN:
    'who sends it as a bearer token reads GET /metrics; at least 16 characters; unset: there are no metrics',
  METRICS_TOKEN_FILE: 'a file with that token, instead of METRICS_TOKEN',
  SLACK_BOT_TOKEN:
    'the bot token (xoxb-…) of a Slack app for all owners; unset: each owner can set up its own',
  SLACK_BOT_TOKEN_FILE: 'a file with that token, instead of SLACK_BOT_TOKEN',
  SLACK_SIGNING_SECRET: "the Slack app's signing secret, for requests over HTTP",
  SLACK_SIGNING_SECRET_FILE: 'a file with that secret, instead of SLACK_SIGNING_SECRET',
  SLACK_APP_TOKEN: "the Slack app's app-level token (xapp-…), for Socket Mode",
  SLACK_APP_TOKEN_FILE: 'a file with that token, instead of SLACK_APP_TOKEN',
  SLACK_API_URL: "where Slack's API is (https://slack.com/api)",
  ROLE: 'all, web (API and webhooks) or worker (statuses)',
  LOG_LEVEL: 'fatal, error, warn, info, debug, trace (info)',
  LOG_FORMAT: 'json or pretty (json)',
} as const;

type Environment = Partial<Record<string, string>>;

/** `readConfig` throws it, with a line for each missing or wrong variable. */
export class ConfigError extends Error {
  readonly problems: string[];
  constructor(problems: string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const configSchema = z.object({
  PORT: number(0, 65_535, 3000),
  HOST: z.string().optional(),
  PUBLIC_URL: originUrl.optional(),
  DATABASE_URL: z
    .url({
      protocol: /^postgres(ql)?$/,
      error: 'must be a postgres:// URL; leave it out for the embedded database',
    })
    .refine(hasKnownSslMode, `has an unknown sslmode: use ${sslModes.join(', ')}`)
    .optional(),
  DATA_DIR: z.string().default('./data'),
  SECRET_KEY: secret(32),
  SECRET_KEY_PREVIOUS: secret(32),
  GITHUB_API_URL: httpUrl.default('https://api.github.com'),
  STATUS_CONTEXT: z.string().max(255, 'must be at most 255 characters').default('holdfast/freeze'),
  STATUS_WRITES_PER_MINUTE: paceRange,
  STRANGER_QUESTIONS_PER_MINUTE: number(1, 1_000_000, 30),
  CALLER_QUESTIONS_PER_MINUTE: number(1, 1_000_000, 60),
  TRUSTED_PROXIES: proxies,
  WEBHOOK_ALLOWED_HOSTS: hosts,
  HTTPS_PROXY: httpUrl.optional(),
  HTTP_PROXY: httpUrl.optional(),
  NO_PROXY: z.string().default(''),
  METRICS_TOKEN: secret(16).refine(isSentInHeader, 'must have no spaces, and ASCII characters only'),
  SLACK_BOT_TOKEN: z.string().startsWith('xoxb-', 'must be a bot token, which begins with xoxb-').optional(),
  SLACK_SIGNING_SECRET: z.string().optional(),
  SLACK_APP_TOKEN: z
    .string()
    .startsWith('xapp-', 'must be an app-level token, which begins with xapp-')
    .optional(),
  SLACK_API_URL: httpUrl.default('https://slack.com/api'),
  ROLE: z.enum(['all', 'web', 'worker'], 'must be all, web or worker').default('all'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['json', 'pretty'], 'must be json or pretty').default('json'),
});

const isAppId = (text: string): boolean => /^[1-9]\d*$/.test(text);

const appSchema = z.object({
  APP_ID: z
    .string('is missing: the App id from the App’s settings page')
    .refine(isAppId, 'must be the numeric App id'),
  WEBHOOK_SECRET: z.string('is missing: without it anyone could send events in GitHub’s name'),
});

const appVariables = ['APP_ID', 'PRIVATE_KEY', 'WEBHOOK_SECRET', 'CLIENT_ID', 'CLIENT_SECRET'];
const isOfApp = (name: string) =>
  appVariables.includes(name) || appVariables.includes(secretFiles[name as keyof typeof secretFiles]);

/**
 * An empty variable counts as not set: that is what `FOO=` in a .env file means. One line break at the end is no part of a
 * value, as in files: `echo` puts it there.
 */
const asMeant = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment)
      .filter(([, value]) => value?.trim())
      .map(([name, value]) => [name, value!.replace(/\r?\n$/, '')]),
  );

function keyOf(name: 'PRIVATE_KEY' | 'LOCK_PRIVATE_KEY', given: Environment, problems: string[]): string {
  const text = given[name];
  if (!text) {
    problems.push(`${name} is missing (or ${name}_PATH): the key that the App’s settings page generates`);
    return '';
  }
  const read = readPrivateKey(text);
  if ('pem' in read) return read.pem;
  problems.push(`${sourceOf(name, given)} ${read.looksLike}`);
  return '';
}

/** The App, with all of its variables or none: if some are missing, it is a mistake and not a first start. */
function readApp(given: Environment, problems: string[]): AppCredentials | null {
  if (!Object.keys(given).some(isOfApp)) return null;
  const parsed = appSchema.safeParse(given);
  if (!parsed.success) problems.push(...problemsIn(parsed.error));
  const privateKey = keyOf('PRIVATE_KEY', given, problems);
  const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = given;
  if (Boolean(clientId) !== Boolean(clientSecret))
    problems.push(`${clientId ? 'CLIENT_SECRET' : 'CLIENT_ID'} is missing: both are set, or neither`);
  if (!parsed.success) return null;
  return {
    id: Number(parsed.data.APP_ID),
    privateKey,
    webhookSecret: parsed.data.WEBHOOK_SECRET,
    oauth: clientId && clientSecret ? { clientId, clientSecret } : null,
  };
}

/** The second App, with both of its variables or none. */
function readLock(given: Environment, problems: string[]): LockCredentials | null {
  const { LOCK_APP_ID: id, LOCK_PRIVATE_KEY: key } = given;
  if (!id && !key) return null;
  if (!id) problems.push('LOCK_APP_ID is missing: the id of the second App from its settings page');
  else if (!isAppId(id)) problems.push('LOCK_APP_ID must be the numeric App id');
  else if (id === given['APP_ID'])
    problems.push('LOCK_APP_ID must be another App than APP_ID, which never gets Administration');
  return { id: Number(id), privateKey: keyOf('LOCK_PRIVATE_KEY', given, problems) };
}

const problemsIn = (error: z.ZodError): string[] =>
  error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);

/**
 * Reads the configuration from environment variables. Reads no files except those that hold secrets.
 * @returns `app` is null if none of the App's variables is set.
 * @throws ConfigError naming every missing or wrong variable at once; values of secrets never appear in it.
 */
export function readConfig(environment: Environment): StartConfig {
  const { given, problems: ofFiles, unread } = readSecretFiles(asMeant(environment));
  const parsed = configSchema.safeParse(given);
  const ofValues = parsed.success ? [] : problemsIn(parsed.error);
  const app = readApp(given, ofValues);
  const lock = readLock(given, ofValues);
  const slackApp = readSlackApp(given, ofValues);
  // The message about an unusable file is enough. Its variable needs no second message.
  const problems = [...ofFiles, ...ofValues.filter((problem) => !unread.has(problem.split(' ')[0]!))];
  if (!parsed.success || problems.length > 0) throw new ConfigError([...problems, ...misnamedIn(given)]);
  const values = parsed.data;
  return {
    port: values.PORT,
    // Without a public address, nobody else needs to reach it.
    host: values.HOST ?? (values.PUBLIC_URL ? '0.0.0.0' : '127.0.0.1'),
    publicUrl: (values.PUBLIC_URL ?? `http://localhost:${values.PORT}`).replace(/\/+$/, ''),
    database: values.DATABASE_URL
      ? { connectionString: values.DATABASE_URL, noteIn: values.DATA_DIR }
      : { dataDir: values.DATA_DIR },
    app,
    lock,
    secretKey: values.SECRET_KEY ?? null,
    secretKeyPrevious: values.SECRET_KEY_PREVIOUS ?? null,
    githubApiUrl: values.GITHUB_API_URL.replace(/\/+$/, ''),
    statusContext: values.STATUS_CONTEXT,
    statusWritesPerMinute: values.STATUS_WRITES_PER_MINUTE,
    strangerQuestionsPerMinute: values.STRANGER_QUESTIONS_PER_MINUTE,
    callerQuestionsPerMinute: values.CALLER_QUESTIONS_PER_MINUTE,
    trustedProxies: values.TRUSTED_PROXIES,
    webhookAllowedHosts: values.WEBHOOK_ALLOWED_HOSTS,
    httpProxy: values.HTTP_PROXY ?? null,
    httpsProxy: values.HTTPS_PROXY ?? null,
    noProxy: values.NO_PROXY,
    metricsToken: values.METRICS_TOKEN ?? null,
    slack: { apiUrl: `${values.SLACK_API_URL.replace(/\/+$/, '')}/`, app: slackApp },
    role: values.ROLE,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT,
  };
}

/** The process's environment, with `.env` of the working directory below it. @throws ConfigError if that is unreadable. */
export function readEnvironment(): Environment {
  // An empty variable counts as not set, so it does not hide the value in the file.
  for (const name of Object.keys(variables))
    if (!process.env[name]?.trim()) Reflect.deleteProperty(process.env, name);
  try {
    return Object.assign(process.env, { ...readDotEnv(), ...process.env });
  } catch (error) {
    if (error instanceof UnreadableDotEnv) throw new ConfigError([error.message]);
    throw error;
  }
}
