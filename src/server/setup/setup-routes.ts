// The setup page: who may open it (`admitVisitor`), what it asks (`wishes.ts`), and the return from GitHub
// (`finishSetup`).
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { readLimited } from '../../api/read-request.ts';
import { isEnvFileWritable } from './env-file.ts';
import { appTemplate, manifestFor } from '../../github/app-manifest.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { pageHeaders } from '../../pages/page-headers.ts';
import { admitVisitor, ownForms, type SetupEnv } from './admit-visitor.ts';
import { Attempts } from './attempts.ts';
import { finishSetup, type SetupDeps } from './finish-setup.ts';
import { publicUrlWarnings } from './public-url-warnings.ts';
import type { SetupCode } from './setup-code.ts';
import { SetupCookies } from './setup-cookies.ts';
import { codePage, reviewPage, setupPage } from './setup-pages.ts';
import { readWishes, type Wishes } from './wishes.ts';

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

  const showForm = async (context: Context, wishes: Wishes, problem: string | null) => {
    const warnings = publicUrlWarnings(config.publicUrl, webUrl);
    const setup = { wishes, problem, webUrl, publicUrl: config.publicUrl, warnings, places: await places() };
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
      },
      null,
    ),
  );

  routes.post('/', async (context) => {
    const { wishes, problem } = readWishes(await formOf(context));
    if (problem !== null) return showForm(context, wishes, problem);
    const { database, env } = await places();
    const place = database && wishes.place === 'database' ? 'database' : 'env';
    if (place === 'env' && !env) return showForm(context, wishes, `Holdfast cannot write ${envFile}.`);
    const origin = context.get('origin');
    const state = await cookies.begin(context, place);
    return context.html(
      reviewOf(wishes, config.publicUrl, origin, `${webUrl}${settingsOf(wishes)}?state=${state}`),
    );
  });
  return routes;
}

/** The summary of the new App, with the button to `action`, where GitHub creates it. */
const reviewOf = (wishes: Wishes, publicUrl: string, origin: string, action: string) =>
  reviewPage(
    manifestFor({
      name: wishes.name,
      publicUrl,
      takesCommands: wishes.takesCommands,
      redirectUrl: `${origin}/setup/callback`,
    }),
    action,
    wishes.owner === 'person' ? 'you' : wishes.organization,
  );

/** The path where GitHub creates an App for this owner. */
const settingsOf = ({ owner, organization }: Wishes): string =>
  `${owner === 'person' ? '' : `/organizations/${organization}`}/settings/apps/new`;

const notStored: MiddlewareHandler = async (context, next) => {
  context.header('Cache-Control', 'no-store');
  return next();
};
