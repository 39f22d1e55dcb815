// The Apps of a run, by two clicks each: a page on this machine leads to GitHub, which creates the App from its manifest
// and leads back, and from there to the page on which people install it.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { html } from 'hono/html';
import { convertManifest } from '../github/app-credentials-store.ts';
import { type AppManifest, lockManifestFor, manifestFor } from '../github/app-manifest.ts';
import { webUrlOf } from '../github/web-url.ts';
import { systemClock } from '../time/clock.ts';
import type { ProveGround } from './ask.ts';

/** An App, as the file of `--app` keeps it. */
export type ProvedApp = { id: number; slug: string; html_url: string; private_key: string };
/** @property second edits rulesets, as for instant hold. */
export type ProvedApps = { first: ProvedApp; second?: ProvedApp };

/** Nobody receives webhooks there: a run reads what GitHub lists as sent. GitHub refuses addresses of one machine. */
const nowhere = 'https://example.com';

/** The first App asks for everything that Holdfast can use. @param here the address of the page. */
export function manifestOf(run: string, here: string): AppManifest {
  const choices = { name: run, takesCommands: true, holdsDeployments: true };
  return { ...manifestFor({ ...choices, publicUrl: nowhere, redirectUrl: `${here}/made` }), setup_url: here };
}

/**
 * Serves the page until the Apps are made. They may not be installed yet.
 * @param keep is told of each at once. @throws the reason of an interruption.
 */
export async function makeApps(
  ground: ProveGround,
  wanted: (keyof ProvedApps)[],
  keep: (which: keyof ProvedApps, app: ProvedApp) => void,
): Promise<void> {
  const { organization, run, apiUrl, proxies, stop } = ground;
  const left = [...wanted];
  const state = randomBytes(24).toString('base64url');
  const { promise: done, resolve, reject } = Promise.withResolvers<'made'>();
  let taking: Promise<unknown> = Promise.resolve();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', here());
    const show = (status: number, text: unknown) =>
      response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8' }).end(String(text));
    // A page at another name could read this one.
    if (`http://${request.headers.host}` !== here()) show(403, html`Open ${here()} instead.`);
    else if (url.pathname !== '/made')
      show(200, left[0] ? formPage(left[0]) : 'Everything is there. Return to the terminal.');
    else
      taking = take(url.searchParams).then(
        (to) => response.writeHead(303, { Location: to }).end(),
        (error: Error) => show(400, html`${error.message} Open <a href="/">the first page</a> again.`),
      );
  });
  const here = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** Gets the credentials of a new App. @returns where to install it. */
  async function take(query: URLSearchParams): Promise<string> {
    if (query.get('state') !== state) throw new Error('This address is of another run.');
    const config = { githubApiUrl: apiUrl, ...proxies };
    const deps = { config, clock: systemClock, log: { error: () => {} } as never };
    const which = left[0];
    if (!which) throw new Error('Everything is there.');
    const options = { again: 'Begin again.', hasWebhooks: which === 'first' };
    const app = await convertManifest(deps, query.get('code') ?? '', options);
    if ('heading' in app) throw new Error(`${app.heading}. ${app.text}`);
    keep(which, { id: app.id, slug: app.slug, html_url: app.htmlUrl, private_key: app.privateKey });
    left.shift();
    if (left.length === 0) resolve('made');
    return `${app.htmlUrl}/installations/new`;
  }

  function formPage(which: keyof ProvedApps) {
    const lock = { ...lockManifestFor(organization, nowhere, `${here()}/made`), name: `${run}-lock` };
    const manifest = which === 'first' ? manifestOf(run, here()) : { ...lock, setup_url: here() };
    const action = `${webUrlOf(apiUrl)}/organizations/${organization}/settings/apps/new?state=${state}`;
    return html`<!doctype html>
      <title>holdfast prove</title>
      <h1>App ${wanted.indexOf(which) + 1} of ${wanted.length}</h1>
      <p>Create ${manifest.name}. Then install it on all repositories of ${organization}.</p>
      <form method="post" action="${action}">
        <input type="hidden" name="manifest" value="${JSON.stringify(manifest)}" />
        <button>Create it on ${new URL(action).host}</button>
      </form>`;
  }

  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  ground.note(`Open ${here()} in a browser where you are signed in to GitHub, and follow the pages.`);
  // GitHub gives the key of an App once, so what was asked for is waited for.
  const end = () => void taking.finally(() => reject(stop.reason as Error));
  if (stop.aborted) end();
  else stop.addEventListener('abort', end, { once: true });
  // The browser comes back from the last installation while the steps run.
  await done.finally(() => server.unref());
}
