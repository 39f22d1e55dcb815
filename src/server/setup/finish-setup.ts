import { constants } from 'node:fs';
import { access, chmod, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { AppCredentials, StartConfig } from '../../config.ts';
import { Refusal } from '../../errors.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import {
  anotherApp,
  type AppOwner,
  assertNoneSaved,
  convertManifest,
  isCode,
  type MadeApp,
  type NewApp,
  type NoApp,
  saveApp,
} from '../../github/app-credentials-store.ts';
import { beginLockApp, fromSetup, type NewAppOffer } from '../../pages/settings/create-lock-app.ts';
import { type Clock, nowOf } from '../../time/clock.ts';
import type { Begun, SetupCookies, SetupEnv } from './admission.ts';
import { donePage, stopPage } from './setup-pages.ts';

export type SetupDeps = {
  db: PrismaClient;
  clock: Clock;
  log: Logger;
  config: StartConfig;
  /** Null if the database cannot store credentials. */
  secretKey: string | null;
  envFile: string;
  /** Continues as the service of this App. */
  become(app: AppCredentials): Promise<void>;
};

const again =
  'Start again at /setup. If GitHub already created an App, delete it first: on GitHub, go to Settings, Developer settings, GitHub Apps.';

/** A page that ends the setup and says what to do. */
type Stop = { status: 403 | 409 | 502 | 503; heading: string; text: string };

/**
 * The returns from GitHub that were used. Each state works once. GitHub hands out credentials only once, so an App that
 * could not be saved waits here for the next try.
 */
export class Attempts {
  readonly #taken = new Set<string>();
  /** By their states. */
  readonly made = new Map<string, NewApp>();
  #turns: Promise<void> = Promise.resolve();
  #isSaved = false;

  /** False if the state was used before or is in use. */
  take(state: string): boolean {
    if (this.#taken.has(state)) return false;
    this.#taken.add(state);
    return true;
  }

  /** Lets the same state be used again. */
  release(state: string): void {
    this.#taken.delete(state);
  }

  /**
   * Saves the first App only, one attempt at a time. A file, unlike the database, would not refuse a second App.
   * @throws Refusal conflict if another App was saved; what `save` throws, after which the next attempt may save.
   */
  async saveFirst(save: () => Promise<void>): Promise<void> {
    const turn = this.#turns.then(async () => {
      if (this.#isSaved) throw anotherApp();
      await save();
      this.#isSaved = true;
    });
    this.#turns = turn.catch(() => {});
    await turn;
  }
}

/** Handles the return from GitHub: checks that this browser started it, fetches the credentials, saves them and starts. */
export async function finishSetup(
  deps: SetupDeps,
  cookies: SetupCookies,
  attempts: Attempts,
  context: Context<SetupEnv>,
): Promise<Response> {
  const stop = ({ status, heading, text }: Stop) => context.html(stopPage(heading, text), status);
  const { code = '', state = '' } = context.req.query();
  const begun = await cookies.begun(context, state);
  if (!begun || !isCode(code)) {
    deps.log.warn('refused a return from GitHub that did not start in this browser');
    const text = `The setup started in another browser, or more than an hour ago. ${again}`;
    return stop({ status: 403, heading: 'The setup did not start in this browser', text });
  }
  if (!attempts.take(state)) return stop({ status: 403, heading: 'This link was already used', text: again });
  const app = await takeApp(deps, attempts, state, code);
  if ('heading' in app) return stop(app);
  const failure = await saveFirst(deps, attempts, begun, app);
  if (failure) return stop(failure);
  cookies.end(context);
  deps.log.info({ app: app.slug, id: app.id, keptIn: begun.place }, 'the GitHub App is set up');
  const isRunning = await deps.become(app).then(
    () => true,
    (error: unknown) => {
      deps.log.error({ err: error }, 'the service could not start with the new App');
      return false;
    },
  );
  const place = begun.place === 'env' ? deps.envFile : 'the database, encrypted';
  const { statusContext } = deps.config;
  const installUrl = `${app.htmlUrl}/installations/new`;
  const lock = isRunning ? await lockOffer(deps, context, app.owner) : null;
  return context.html(donePage({ name: app.name, installUrl, place, statusContext, isRunning, lock }));
}

/** The second App. The service takes its return, at PUBLIC_URL, and seals its key. */
async function lockOffer(
  { config, clock }: SetupDeps,
  context: Context<SetupEnv>,
  owner: AppOwner | null,
): Promise<NewAppOffer | null> {
  const isThere = context.get('origin') === new URL(config.publicUrl).origin;
  if (!owner || !isThere || config.lock || config.secretKey === null) return null;
  return beginLockApp({ config, clock }, context, owner, fromSetup);
}

/** Exchanges the code for the credentials of the new App, which works once. A later attempt gets the same App. */
async function takeApp(
  deps: SetupDeps,
  attempts: Attempts,
  state: string,
  code: string,
): Promise<NewApp | NoApp> {
  const made = attempts.made.get(state);
  if (made) return made;
  const converted = await convertManifest(deps, code, { again, hasWebhooks: true });
  if (!('heading' in converted)) attempts.made.set(state, converted);
  else if (!converted.isOver) attempts.release(state);
  return converted;
}

/** @returns the page to show if the App could not be saved. */
async function saveFirst(
  { db, clock, log, secretKey, envFile }: SetupDeps,
  attempts: Attempts,
  { state, place }: Begun,
  app: NewApp,
): Promise<Stop | null> {
  try {
    await attempts.saveFirst(async () => {
      if (place === 'database') return saveApp(db, secretKey!, app, nowOf(clock));
      await assertNoneSaved(db);
      await addToEnvFile(envFile, app);
    });
    return null;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'conflict') {
      const text = `Holdfast uses that App. Delete the App ${app.name} at ${app.htmlUrl}, because nothing uses it.`;
      return { status: 409, heading: 'Another GitHub App is already set up', text };
    }
    log.error({ err: error }, 'the credentials of the new App could not be saved');
    attempts.release(state);
    const text =
      'The log says why. Fix the problem, then reload this page. Holdfast keeps the credentials while this process runs.';
    return { status: 503, heading: 'The credentials could not be saved', text };
  }
}

/** The file that the service reads when it starts. Environment variables override it. */
export const envFilePath = (): string => resolve('.env');

/** Whether we can append to the file or create it. */
export async function isEnvFileWritable(path: string): Promise<boolean> {
  const may = (target: string) =>
    access(target, constants.W_OK).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    );
  const refusal = await may(path);
  return refusal === null || (refusal === 'ENOENT' && (await may(dirname(path))) === null);
}

/** Appends the App to the file and makes the file readable for its owner only. Keeps the other lines. */
export async function addToEnvFile(path: string, app: MadeApp): Promise<void> {
  const values = {
    APP_ID: String(app.id),
    PRIVATE_KEY: app.privateKey.trim().replaceAll('\n', '\\n'),
    WEBHOOK_SECRET: app.webhookSecret,
    CLIENT_ID: app.oauth.clientId,
    CLIENT_SECRET: app.oauth.clientSecret,
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}="${value}"\n`);
  const file = await open(path, 'a+', 0o600);
  try {
    // Set the mode before writing secrets.
    await chmod(path, 0o600);
    const before = await file.readFile('utf8');
    const newLine = before === '' || before.endsWith('\n') ? '' : '\n';
    await file.appendFile(
      `${newLine}# The GitHub App ${app.slug}, created by the setup page.\n${lines.join('')}`,
    );
    await file.sync();
  } finally {
    await file.close();
  }
}
