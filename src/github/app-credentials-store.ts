import type { Logger } from 'pino';
import { createPrivateKey } from 'node:crypto';
import * as z from 'zod';
import { type AppCredentials, ConfigError, type LockCredentials } from '../config.ts';
import { openingKeys, type SecretKeys, CannotUnseal, seal, unseal } from '../database/secret-key.ts';
import { conflict } from '../errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { ApiAddress } from './api-address.ts';
import { Client } from './github-app.ts';
import { fetchThroughProxy, type Proxies } from './through-proxy.ts';
import { classifyGitHubError } from './github-error.ts';
import type { Ground } from '../database/ground.ts';

/** A GitHub App as it was just made, with its credentials and where people find it. */
export type MadeApp = AppCredentials & {
  oauth: NonNullable<AppCredentials['oauth']>;
  slug: string;
  name: string;
  /** The App's page at GitHub. */
  htmlUrl: string;
};

type SecretField = 'privateKey' | 'webhookSecret' | 'clientSecret';
const purposeOf = (field: SecretField, appId: bigint) => `${field} of App ${appId}`;

const uniqueViolation = 'P2002';

export const anotherApp = () => conflict('Another GitHub App is already set up.');

/** The rows of the App and of the second App, which puts rulesets in force. */
const rows = { first: 1, lock: 2 } as const;
type Which = keyof typeof rows;

/**
 * Saves an App in the database. Its three secrets are encrypted under `secretKey`; the rest is public.
 * @throws Refusal conflict if such an App is saved already: the first one stays.
 */
export async function saveApp(
  db: Pick<PrismaClient, 'appCredentials'>,
  secretKey: string,
  app: MadeApp,
  at: Date,
  which: Which = 'first',
): Promise<void> {
  const appId = BigInt(app.id);
  const { privateKey, webhookSecret, oauth } = app;
  const secrets: Secrets = { privateKey, webhookSecret, clientSecret: oauth.clientSecret };
  try {
    await db.appCredentials.create({
      data: {
        id: rows[which],
        appId,
        slug: app.slug,
        name: app.name,
        htmlUrl: app.htmlUrl,
        clientId: app.oauth.clientId,
        ...sealAll(secrets, appId, secretKey),
        createdAt: at,
      },
    });
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === uniqueViolation)
      throw anotherApp();
    throw error;
  }
}

/** @throws Refusal conflict if an App is saved in the database. */
export async function assertNoneSaved(db: PrismaClient): Promise<void> {
  if ((await db.appCredentials.count({ where: { id: rows.first } })) > 0) throw anotherApp();
}

/**
 * The App that the setup page saved.
 * @returns null if none is saved.
 * @throws ConfigError if SECRET_KEY is missing, or no key opens it.
 */
export async function loadApp(
  db: PrismaClient,
  keys: SecretKeys,
  log: Pick<Logger, 'info'>,
): Promise<AppCredentials | null> {
  const found = await load(db, keys, log, 'first');
  if (!found) return null;
  const { id, clientId, clientSecret, ...rest } = found;
  return { id, ...rest, oauth: { clientId, clientSecret } };
}

/** The second App; null also if no key opens it, so that everything else goes on without it. */
export async function loadLock(
  db: PrismaClient,
  keys: SecretKeys,
  log: Pick<Logger, 'info' | 'error'>,
): Promise<LockCredentials | null> {
  try {
    const found = await load(db, keys, log, 'lock');
    return found && { id: found.id, privateKey: found.privateKey };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error('the second App in the database is encrypted with another SECRET_KEY');
    return null;
  }
}

/** The second App in the database, without its secrets. */
export const savedLock = (db: Pick<PrismaClient, 'appCredentials'>) =>
  db.appCredentials.findUnique({
    where: { id: rows.lock },
    select: { appId: true, slug: true, name: true, htmlUrl: true, createdAt: true },
  });

/** @returns whether this second App was there. */
export async function forgetLock(db: Pick<PrismaClient, 'appCredentials'>, appId: bigint): Promise<boolean> {
  return (await db.appCredentials.deleteMany({ where: { id: rows.lock, appId } })).count > 0;
}

/**
 * A saved App. If only SECRET_KEY_PREVIOUS opens it, this seals it again under SECRET_KEY, once, even if many replicas
 * start at the same time.
 */
async function load(db: PrismaClient, keys: SecretKeys, log: Pick<Logger, 'info'>, which: Which) {
  const row = await db.appCredentials.findUnique({ where: { id: rows[which] } });
  if (!row) return null;
  const { secrets, resealed } = openApp(row, keys);
  if (resealed) {
    // Of replicas that start together the first one changes it.
    const where = { id: row.id, privateKey: row.privateKey };
    const { count } = await db.appCredentials.updateMany({ where, data: resealed });
    if (count > 0) log.info('the App in the database is now encrypted with the new SECRET_KEY');
  }
  return { id: Number(row.appId), clientId: row.clientId, ...secrets };
}

/** In the clear, or sealed. */
export type Secrets = Record<SecretField, string>;

/** What of a saved App is sealed. */
type SealedApp = { appId: bigint } & Secrets;

/**
 * Opens a saved App.
 * @returns its secrets, and the same sealed again under SECRET_KEY if only SECRET_KEY_PREVIOUS opens them.
 * @throws ConfigError if SECRET_KEY is missing, or no key opens it.
 */
export function openApp(app: SealedApp, keys: SecretKeys): { secrets: Secrets; resealed: Secrets | null } {
  const { secretKey } = keys;
  if (secretKey === null)
    throw new ConfigError([
      'SECRET_KEY is missing: the App’s credentials in the database are encrypted with it',
    ]);
  for (const key of openingKeys(keys)) {
    const secrets = unsealAll(app, key);
    if (!secrets) continue;
    if (key === secretKey) return { secrets, resealed: null };
    return { secrets, resealed: sealAll(secrets, app.appId, secretKey) };
  }
  throw new ConfigError([
    keys.secretKeyPrevious === null
      ? 'SECRET_KEY is not the one with which the App’s credentials in the database were encrypted: set that one ' +
        '(with the embedded database and no SECRET_KEY it is DATA_DIR/secret-key), or set APP_ID, PRIVATE_KEY and ' +
        'WEBHOOK_SECRET'
      : 'Neither SECRET_KEY nor SECRET_KEY_PREVIOUS is the one with which the App’s credentials in the database were ' +
        'encrypted: set SECRET_KEY_PREVIOUS to that one, or set APP_ID, PRIVATE_KEY and WEBHOOK_SECRET',
  ]);
}

const ofEach = (value: (field: SecretField) => string): Secrets => ({
  privateKey: value('privateKey'),
  webhookSecret: value('webhookSecret'),
  clientSecret: value('clientSecret'),
});

const sealAll = (secrets: Secrets, appId: bigint, key: string): Secrets =>
  ofEach((field) => seal(key, purposeOf(field, appId), secrets[field]));

/** @returns null if they were sealed under another key. */
function unsealAll(app: SealedApp, key: string): Secrets | null {
  try {
    return ofEach((field) => unseal(key, purposeOf(field, app.appId), app[field]));
  } catch (error) {
    if (error instanceof CannotUnseal) return null;
    throw error;
  }
}

/** The account that an App belongs to, as GitHub shows it. */
export type AppOwner = { id: number; login: string; type: string };

/** An App that was made just now. @property owner null if it is no person or organization. */
export type NewApp = MadeApp & { owner: AppOwner | null; permissions: Record<string, string> };

/** Why there are no credentials: a heading and what to do. `isOver`: the code gives none any more. */
export type NoApp = { status: 502 | 503; heading: string; text: string; isOver: boolean };

/** The shape of GitHub's codes. */
export const isCode = (code: string): boolean => /^[\w-]{1,255}$/.test(code);

/** A text that fits on a line of `.env`. */
const word = z.string().regex(/^[^"\p{C}]+$/u);

/** GitHub's answer about a new App, which it gives once. An App without webhooks may have no secret for them. */
const madeApp = (hasWebhooks: boolean) =>
  z
    .object({
      id: z.number().int().positive(),
      slug: word,
      name: z.string(),
      html_url: z.url({ protocol: /^https?$/ }),
      client_id: word,
      client_secret: word,
      webhook_secret: hasWebhooks ? word : word.nullish(),
      pem: z.string().refine(isPrivateKey),
      // Enterprises have no login.
      owner: z.object({ id: z.number(), login: z.string(), type: z.string() }).nullish().catch(null),
      permissions: z.record(z.string(), z.string()).catch({}),
    })
    .transform(({ html_url, client_id, client_secret, webhook_secret, pem, owner, ...given }): NewApp => ({
      ...given,
      htmlUrl: html_url,
      privateKey: pem,
      webhookSecret: webhook_secret ?? '',
      oauth: { clientId: client_id, clientSecret: client_secret },
      owner: owner ?? null,
    }));

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).type === 'private';
  } catch {
    return false;
  }
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const manifestPatience = 12_000;

/** Exchanges the code of GitHub's manifest flow for the credentials of the new App, which works once. */
export async function convertManifest(
  { config, clock, log }: Pick<Ground, 'clock' | 'log'> & { config: { githubApiUrl: string } & Proxies },
  code: string,
  { again, hasWebhooks }: { again: string; hasWebhooks: boolean },
): Promise<NewApp | NoApp> {
  const address = new ApiAddress(config.githubApiUrl, clock, log);
  const send = address.watch(fetchThroughProxy(config), () => true);
  const octokit = new Client({ baseUrl: config.githubApiUrl, request: { fetch: send }, log: quiet });
  let answer: unknown;
  try {
    const signal = AbortSignal.timeout(manifestPatience);
    answer = (await octokit.rest.apps.createFromManifest({ code, request: { signal } })).data;
  } catch (error) {
    const problem = address.problem();
    if (problem) return anotherServer(problem);
    const { kind } = classifyGitHubError(error, clock.now());
    if (kind === 'down' || kind === 'limited') {
      const text = 'Reload this page in a moment. The link works for an hour.';
      return { status: 503, heading: 'GitHub does not answer', text, isOver: false };
    }
    const text = `The code was already used, or it is more than an hour old. ${again}`;
    return { status: 502, heading: 'GitHub does not know this code', text, isOver: true };
  }
  const parsed = madeApp(hasWebhooks).safeParse(answer);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path }) => path.join('.') || 'all of it');
  log.error({ fields }, 'the answer from GitHub about the new App cannot be used');
  const text = `Check that GITHUB_API_URL (${config.githubApiUrl}) is the address of GitHub’s API. GitHub returns credentials only once. ${again}`;
  return { status: 502, heading: 'GitHub’s answer cannot be used', text, isOver: true };
}

/** GitHub was not asked, so the code still works. @param says see `notGitHub`. */
const anotherServer = (says: string): NoApp => ({
  status: 502,
  heading: 'GitHub’s answer cannot be used',
  text: `${says} Correct it, start Holdfast again, and reload this page: the link works for an hour.`,
  isOver: false,
});
