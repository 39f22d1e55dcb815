import type { Context } from 'hono';
import type { Logger } from 'pino';
import { assertNoneKept, type MadeApp, saveApp } from './app-credentials-store.ts';
import { addToEnvFile } from './env-file.ts';
import { type Clock, nowOf } from '../../clock.ts';
import type { AppCredentials, StartConfig } from '../../config.ts';
import { Refusal } from '../../errors.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import type { Attempts } from './attempts.ts';
import { convertCode } from './convert-code.ts';
import type { Begun, Place, SetupCookies } from './setup-cookies.ts';
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

/** Handles the return from GitHub: checks that this browser started it, fetches the credentials, saves them and starts. */
export async function finishSetup(
  deps: SetupDeps,
  cookies: SetupCookies,
  attempts: Attempts,
  context: Context,
): Promise<Response> {
  const stop = ({ status, heading, text }: Stop) => context.html(stopPage(heading, text), status);
  const { code = '', state = '' } = context.req.query();
  const begun = await cookies.begun(context, state);
  if (!begun || !/^[\w-]{1,255}$/.test(code)) {
    deps.log.warn('refused a return from GitHub that did not start in this browser');
    const text = `The setup started in another browser, or more than an hour ago. ${again}`;
    return stop({ status: 403, heading: 'The setup did not start in this browser', text });
  }
  if (!attempts.take(state)) return stop({ status: 403, heading: 'This link was already used', text: again });
  const app = await takeApp(deps, attempts, state, code);
  if ('heading' in app) return stop(app);
  const failure = await keepApp(deps, attempts, begun, app);
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
  return context.html(donePage({ name: app.name, installUrl, place, statusContext, isRunning }));
}

/** The App that GitHub returns for the code, or returned before if it could not be saved then. */
async function takeApp(
  { config, clock, log }: SetupDeps,
  attempts: Attempts,
  state: string,
  code: string,
): Promise<MadeApp | Stop> {
  const made = attempts.made(state);
  if (made) return made;
  const conversion = await convertCode(config.githubApiUrl, code, clock.now());
  switch (conversion.kind) {
    case 'made':
      attempts.remember(state, conversion.app);
      return conversion.app;
    case 'no-answer': {
      attempts.release(state);
      const text = 'Reload this page in a moment. The link works for an hour.';
      return { status: 503, heading: 'GitHub does not answer', text };
    }
    case 'unknown-code': {
      const text = `The code was already used, or it is more than an hour old. ${again}`;
      return { status: 502, heading: 'GitHub does not know this code', text };
    }
    case 'unusable': {
      log.error({ fields: conversion.fields }, 'the answer from GitHub about the new App cannot be used');
      const text = `Check that GITHUB_API_URL (${config.githubApiUrl}) is the address of GitHub’s API. GitHub returns credentials only once. ${again}`;
      return { status: 502, heading: 'GitHub’s answer cannot be used', text };
    }
  }
}

/** @returns the page to show if the App could not be saved. */
async function keepApp(
  deps: SetupDeps,
  attempts: Attempts,
  { state, place }: Begun,
  app: MadeApp,
): Promise<Stop | null> {
  try {
    await attempts.keepFirst(() => keep(deps, place, app));
    return null;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'conflict') {
      const text = `Holdfast uses that App. Delete the App ${app.name} at ${app.htmlUrl}, because nothing uses it.`;
      return { status: 409, heading: 'Another GitHub App is already set up', text };
    }
    deps.log.error({ err: error }, 'the credentials of the new App could not be saved');
    attempts.release(state);
    const text =
      'The log says why. Fix the problem, then reload this page. Holdfast keeps the credentials while this process runs.';
    return { status: 503, heading: 'The credentials could not be saved', text };
  }
}

async function keep({ db, clock, secretKey, envFile }: SetupDeps, place: Place, app: MadeApp): Promise<void> {
  if (place === 'database') return saveApp(db, secretKey!, app, nowOf(clock));
  await assertNoneKept(db);
  await addToEnvFile(envFile, app);
}
