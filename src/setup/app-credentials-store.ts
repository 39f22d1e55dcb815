import { type AppCredentials, ConfigError } from '../config.ts';
import { conflict } from '../errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { CannotUnseal, seal, unseal } from './sealed-text.ts';

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

/**
 * Keeps the App. Its three secrets are encrypted under `secretKey`; the rest is public.
 * @throws Refusal conflict where an App is kept already: the first one stays.
 */
export async function saveApp(db: PrismaClient, secretKey: string, app: MadeApp, at: Date): Promise<void> {
  const appId = BigInt(app.id);
  const sealed = (field: SecretField, text: string) => seal(secretKey, purposeOf(field, appId), text);
  try {
    await db.appCredentials.create({
      data: {
        appId,
        slug: app.slug,
        name: app.name,
        htmlUrl: app.htmlUrl,
        clientId: app.oauth.clientId,
        privateKey: sealed('privateKey', app.privateKey),
        webhookSecret: sealed('webhookSecret', app.webhookSecret),
        clientSecret: sealed('clientSecret', app.oauth.clientSecret),
        createdAt: at,
      },
    });
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === uniqueViolation)
      throw anotherApp();
    throw error;
  }
}

/** @throws Refusal conflict where an App is kept already. */
export async function assertNoneKept(db: PrismaClient): Promise<void> {
  if ((await db.appCredentials.count()) > 0) throw anotherApp();
}

/**
 * The App that the setup page kept.
 * @returns null where none is kept.
 * @throws ConfigError where SECRET_KEY is missing or is not the one that it was kept under.
 */
export async function loadApp(db: PrismaClient, secretKey: string | null): Promise<AppCredentials | null> {
  const row = await db.appCredentials.findUnique({ where: { id: 1 } });
  if (!row) return null;
  if (secretKey === null)
    throw new ConfigError([
      'SECRET_KEY is missing: the App’s credentials in the database are encrypted with it',
    ]);
  const open = (field: SecretField) => unseal(secretKey, purposeOf(field, row.appId), row[field]);
  try {
    return {
      id: Number(row.appId),
      privateKey: open('privateKey'),
      webhookSecret: open('webhookSecret'),
      oauth: { clientId: row.clientId, clientSecret: open('clientSecret') },
    };
  } catch (error) {
    if (!(error instanceof CannotUnseal)) throw error;
    throw new ConfigError([
      'SECRET_KEY is not the one with which the App’s credentials in the database were encrypted: set that one ' +
        '(with the embedded database and no SECRET_KEY it is DATA_DIR/secret-key), or set APP_ID, PRIVATE_KEY and ' +
        'WEBHOOK_SECRET',
    ]);
  }
}
