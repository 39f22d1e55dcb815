// The setup page: who may open it (`admission.ts`), what is asked (`wishes.ts`), to GitHub and back (`finishSetup`).
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono, type Context } from 'hono';
import { readLimited } from '../api/read-body.ts';
import { isEnvFileWritable } from '../app-credentials/env-file.ts';
import { appTemplate, manifestFor } from '../github/app-manifest.ts';
import { webUrlOf } from '../github/web-url.ts';
import { pageHeaders } from '../pages/page-headers.ts';
import { type Admission, admissionOf } from './admission.ts';
import { Attempts } from './attempts.ts';
import { finishSetup, type SetupDeps } from './finish-setup.ts';
import { publicUrlWarnings } from './public-url-warnings.ts';
import type { SetupCode } from './setup-code.ts';
import { SetupCookies } from './setup-cookies.ts';
import { codePage, reviewPage, setupPage, stopPage } from './setup-pages.ts';
import { readWishes, type Wishes } from './wishes.ts';

type Admitted = Exclude<Admission, { kind: 'elsewhere' }>;
type Env = { Variables: { admission: Admitted } };

/** No form of these pages is longer. */
const largestForm = 1024 * 1024;

const formOf = async (context: Context): Promise<URLSearchParams> =>
  new URLSearchParams(Buffer.from(await readLimited(context.req.raw, largestForm)).toString());

/** `/setup` and what is below it. */
export function setupRoutes(deps: SetupDeps, code: SetupCode): Hono<Env> {
  const { config, clock, secretKey, envFile } = deps;
  const webUrl = webUrlOf(config.githubApiUrl);
  const cookies = new SetupCookies(clock, secretKey);
  const attempts = new Attempts();
  const routes = new Hono<Env>();

  const places = async () => ({ database: secretKey !== null, env: await isEnvFileWritable(envFile) });

  const showForm = async (context: Context, wishes: Wishes, problem: string | null) => {
    const warnings = publicUrlWarnings(config.publicUrl, webUrl);
    const setup = { wishes, problem, webUrl, publicUrl: config.publicUrl, warnings, places: await places() };
    return context.html(setupPage(setup), problem === null ? 200 : 422);
  };

  routes.use(pageHeaders([webUrl]));
  routes.use(async (context, next) => {
    context.header('Cache-Control', 'no-store');
    const admission = admissionOf(visitOf(context), config.publicUrl);
    if (admission.kind === 'elsewhere') {
      const text = `Open ${config.publicUrl}/setup, or on the machine that Holdfast runs on its own address. Where people reach Holdfast by another name, set PUBLIC_URL to that and start it again.`;
      return context.html(stopPage('Not under this address', text), 403);
    }
    if (context.req.method === 'POST' && !isOwnForm(context, admission.origin))
      return context.html(stopPage('Not from another site', 'Open the setup page itself.'), 403);
    context.set('admission', admission);
    return next();
  });

  // Whoever comes back from GitHub brings the cookie of a visit that only an admitted person can begin.
  routes.get('/callback', (context) => finishSetup(deps, cookies, attempts, context));

  routes.post('/code', async (context) => {
    const { origin } = context.get('admission');
    switch (code.try((await formOf(context)).get('code') ?? '')) {
      case 'right':
        await cookies.admit(context, origin);
        return context.redirect('/setup', 303);
      case 'wrong':
        deps.log.warn('a wrong setup code was entered');
        return context.html(codePage('This is not the code. It is in the latest start’s log.'), 403);
      case 'too-many':
        context.header('Retry-After', '60');
        return context.html(codePage('Too many wrong codes. Try again in a minute.'), 429);
    }
  });

  routes.use(async (context, next) => {
    if (context.get('admission').kind === 'local' || (await cookies.isAdmitted(context))) return next();
    return context.html(codePage(null), context.req.method === 'GET' ? 200 : 403);
  });

  routes.get('/', (context) =>
    showForm(
      context,
      { owner: 'organization', organization: '', name: appTemplate.name, place: 'database' },
      null,
    ),
  );

  routes.post('/', async (context) => {
    const { wishes, problem } = readWishes(await formOf(context));
    if (problem !== null) return showForm(context, wishes, problem);
    const { database, env } = await places();
    const place = database && wishes.place === 'database' ? 'database' : 'env';
    if (place === 'env' && !env) return showForm(context, wishes, `${envFile} cannot be written.`);
    const { origin } = context.get('admission');
    const manifest = manifestFor({
      name: wishes.name,
      publicUrl: config.publicUrl,
      redirectUrl: `${origin}/setup/callback`,
    });
    const state = await cookies.begin(context, place, origin);
    const account = wishes.owner === 'person' ? '' : `/organizations/${wishes.organization}`;
    const owner = wishes.owner === 'person' ? 'you' : wishes.organization;
    return context.html(reviewPage(manifest, `${webUrl}${account}/settings/apps/new?state=${state}`, owner));
  });
  return routes;
}

/** Headers with which proxies say for whom they ask. */
const ofProxies = /^(?:forwarded|via|x-real-ip|x-forwarded-.+)$/;

function visitOf(context: Context) {
  const { incoming } = context.env as { incoming: { httpVersion: string } };
  return {
    address: getConnInfo(context).remote.address,
    host: context.req.header('host'),
    // A bare nginx names nobody and sends its own loopback name as Host, but it speaks HTTP/1.0.
    isForwarded:
      incoming.httpVersion === '1.0' ||
      Object.keys(context.req.header()).some((name) => ofProxies.test(name)),
  };
}

/** Browsers say where a form came from. Programs say nothing, and carry nobody's cookies. */
const isOwnForm = (context: Context, own: string): boolean => {
  const origin = context.req.header('origin');
  return origin === undefined || origin === own;
};
