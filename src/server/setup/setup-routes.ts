import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { readLimited } from '../../api/read-request.ts';
import { isEnvFileWritable } from './env-file.ts';
import { appTemplate, manifestFor } from '../../github/app-manifest.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { type NewAppOffer, newAppPath } from '../../pages/settings/create-lock-app.ts';
import { pageHeaders } from '../../pages/layout.ts';
import { ownFormsOnly } from '../../auth/own-forms.ts';
import { Attempts, finishSetup, type SetupDeps } from './finish-setup.ts';
import { originOf, publicUrlWarnings } from './public-url.ts';
import type { SetupCode } from './setup-code.ts';
import { SetupCookies, type SetupEnv } from './setup-cookies.ts';
import { type Choices, codePage, readChoices, reviewPage, setupPage, stopPage } from './setup-pages.ts';

/** The limit for the forms of these pages, in bytes. */
const largestForm = 1024 * 1024;

const formOf = async (context: Context): Promise<URLSearchParams> =>
  new URLSearchParams(Buffer.from(await readLimited(context.req.raw, largestForm)).toString());

/** `/setup` and the paths below it. */
export function setupRoutes(deps: SetupDeps, code: SetupCode): Hono<SetupEnv> {
  const { config, clock, secretKey, envFile } = deps;
  const webUrl = webUrlOf(config.githubApiUrl);
  const cookies = new SetupCookies(clock, config);
  const attempts = new Attempts();
  const routes = new Hono<SetupEnv>();

  const places = async () => ({ database: secretKey !== null, env: await isEnvFileWritable(envFile) });

  const showForm = async (context: Context, choices: Choices, problem: string | null) => {
    const warnings = publicUrlWarnings(config.publicUrl, webUrl);
    const setup = { choices, problem, webUrl, publicUrl: config.publicUrl, warnings, places: await places() };
    return context.html(setupPage(setup), problem === null ? 200 : 422);
  };

  routes.use(pageHeaders([webUrl]));
  routes.use(notStored, admitVisitor(config.publicUrl), ownForms);

  // A person who returns from GitHub has the cookie of a visit that only an admitted person can start.
  routes.get('/callback', (context) => finishSetup(deps, cookies, attempts, context));

  routes.post('/code', async (context) => {
    const { address = '' } = getConnInfo(context).remote;
    switch (code.try((await formOf(context)).get('code') ?? '', address)) {
      case 'right':
        await cookies.admit(context);
        return context.redirect('/setup', 303);
      case 'wrong':
        deps.log.warn('a wrong setup code was entered');
        return context.html(
          codePage('This code is wrong. Find the current code in the log after the latest start.'),
          403,
        );
      case 'too-many':
        context.header('Retry-After', '60');
        return context.html(
          codePage('Too many wrong codes from your address. Enter the right one, or wait a minute.'),
          429,
        );
    }
  });

  routes.use(async (context, next) => {
    if (await cookies.isAdmitted(context)) return next();
    return context.html(codePage(null), context.req.method === 'GET' ? 200 : 403);
  });

  routes.get('/', (context) =>
    showForm(
      context,
      {
        owner: 'organization',
        organization: '',
        name: appTemplate.name,
        place: 'database',
        takesCommands: false,
        holdsDeployments: false,
      },
      null,
    ),
  );

  routes.post('/', async (context) => {
    const { choices, problem } = readChoices(await formOf(context));
    if (problem !== null) return showForm(context, choices, problem);
    const { database, env } = await places();
    const place = database && choices.place === 'database' ? 'database' : 'env';
    if (place === 'env' && !env) return showForm(context, choices, `Holdfast cannot write ${envFile}.`);
    const origin = context.get('origin');
    const state = await cookies.begin(context, place);
    const path = newAppPath(choices.owner === 'person' ? null : choices.organization);
    const action = `${webUrl}${path}?state=${state}`;
    return context.html(reviewPage(offerOf(choices, config.publicUrl, origin, action)));
  });
  return routes;
}

/** The new App. @param action where GitHub creates it. */
const offerOf = (choices: Choices, publicUrl: string, origin: string, action: string): NewAppOffer => ({
  manifest: manifestFor({
    name: choices.name,
    publicUrl,
    takesCommands: choices.takesCommands,
    holdsDeployments: choices.holdsDeployments,
    redirectUrl: `${origin}/setup/callback`,
  }),
  action,
  owner: choices.owner === 'person' ? 'you' : choices.organization,
});

const notStored: MiddlewareHandler = async (context, next) => {
  context.header('Cache-Control', 'no-store');
  return next();
};

/** Stops visitors who use a host name that is not ours. */
const admitVisitor =
  (publicUrl: string): MiddlewareHandler<SetupEnv> =>
  async (context, next) => {
    const origin = originOf(context.req.header('host'), publicUrl);
    if (origin === null) {
      const text = `Open ${publicUrl}/setup, or open the setup page at localhost on the machine that runs Holdfast. If people reach Holdfast by another name, set PUBLIC_URL to that name and restart Holdfast.`;
      return context.html(stopPage('Wrong address', text), 403);
    }
    context.set('origin', origin);
    return next();
  };

/** Stops forms that do not come from these pages. */
const ownForms = ownFormsOnly(
  (context) => context.get('origin'),
  (context) => {
    const text = 'Open the setup page directly. A proxy in front of Holdfast must forward the Host header.';
    return context.html(stopPage('Request from another site', text), 403);
  },
);
