import type { Context } from 'hono';
import type { Logger } from 'pino';
import { type MadeApp, saveApp } from '../app-credentials/app-credentials-store.ts';
import { addToEnvFile } from '../app-credentials/env-file.ts';
import { type Clock, nowOf } from '../clock.ts';
import type { AppCredentials, StartConfig } from '../config.ts';
import { Refusal } from '../errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Attempts } from './attempts.ts';
import { convertCode } from './convert-code.ts';
import type { Place, SetupCookies } from './setup-cookies.ts';
import { donePage, stopPage } from './setup-pages.ts';

export type SetupDeps = {
  db: PrismaClient;
  clock: Clock;
  log: Logger;
  config: StartConfig;
  /** Null: nothing can be kept in the database. */
  secretKey: string | null;
  envFile: string;
  /** Goes on as the service of this App. */
  become(app: AppCredentials): Promise<void>;
};

const again = 'Begin again at /setup. If GitHub made an App already, delete it there first.';

/** The way back from GitHub: checks that it was begun here, takes the credentials, keeps them, and goes on with them. */
export async function finishSetup(
  deps: SetupDeps,
  cookies: SetupCookies,
  attempts: Attempts,
  context: Context,
): Promise<Response> {
  const stop = (status: 403 | 409 | 502 | 503, heading: string, text: string) =>
    context.html(stopPage(heading, text), status);
  const { code = '', state = '' } = context.req.query();
  const begun = await cookies.begun(context, state);
  if (!begun || !/^[\w-]{1,255}$/.test(code)) {
    deps.log.warn('a way back from GitHub was refused that was not begun here');
    return stop(403, 'This was not begun in this browser', `Or it was over an hour ago. ${again}`);
  }
  if (!attempts.take(state)) return stop(403, 'This link was used already', again);

  let app = attempts.made(state);
  if (!app) {
    const conversion = await convertCode(deps.config.githubApiUrl, code, deps.clock.now());
    if (conversion.kind === 'no-answer') {
      attempts.release(state);
      return stop(503, 'GitHub does not answer', 'Reload this page in a moment; it works for an hour.');
    }
    if (conversion.kind === 'unknown-code') {
      const text = `The code was used before, or it is over an hour old. ${again}`;
      return stop(502, 'GitHub does not know this code', text);
    }
    ({ app } = conversion);
    attempts.remember(state, app);
  }

  try {
    await keep(deps, begun.place, app);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'conflict') {
      const text = `Holdfast goes on with that one. Delete the App ${app.name} at ${app.htmlUrl}: nothing uses it.`;
      return stop(409, 'Another App was set up meanwhile', text);
    }
    deps.log.error({ err: error }, 'the credentials of the new App could not be kept');
    attempts.release(state);
    const text = 'The log says why. Mend that and reload this page: nothing is lost while this process runs.';
    return stop(503, 'The credentials could not be kept', text);
  }
  attempts.forget(state);
  cookies.end(context);
  deps.log.info({ app: app.slug, id: app.id, keptIn: begun.place }, 'the GitHub App is set up');
  const isRunning = await deps.become(app).then(
    () => true,
    (error: unknown) => {
      deps.log.error({ err: error }, 'the service could not go on with the new App');
      return false;
    },
  );
  const place = begun.place === 'env' ? deps.envFile : 'the database, encrypted';
  const { statusContext } = deps.config;
  const installUrl = `${app.htmlUrl}/installations/new`;
  return context.html(donePage({ name: app.name, installUrl, place, statusContext, isRunning }));
}

const keep = ({ db, clock, secretKey, envFile }: SetupDeps, place: Place, app: MadeApp): Promise<void> =>
  place === 'env' ? addToEnvFile(envFile, app) : saveApp(db, secretKey!, app, nowOf(clock));
