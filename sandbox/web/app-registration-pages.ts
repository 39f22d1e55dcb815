import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { html } from 'hono/html';
import type { Api, ApiContext, Parts } from '../http/api.ts';
import type { Account } from '../state/model.ts';
import type { AppIdentity } from '../state/world.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { webPage } from './web-page.ts';

/** GitHub's codes live for an hour, by the real clock, like all credentials here. */
const codeLifetime = 3_600_000;

/**
 * GitHub's App manifest flow up to the code: the manifest comes as a form, the page shows the App's name, and
 * "Create GitHub App" returns with the code. The sandbox asks who makes it; GitHub knows who is signed in. The sandbox
 * has one App under test: a new one replaces one that was never installed. One that asks for Administration is a second App.
 */
export function appRegistrationPages(api: Api, { world, webhooks, addBot }: Parts): void {
  const people = () => [...world.accounts.values()].filter(({ type }) => type === 'User');
  const show = (c: ApiContext, title: string, problems: string[], status: 404 | 422) =>
    c.html(
      webPage(
        title,
        html`<ul>
          ${problems.map((problem) => html`<li>${problem}</li>`)}
        </ul>`,
      ),
      status,
    );

  const register = async (c: ApiContext) => {
    const login = c.req.param('organization');
    const organization = login === undefined ? null : world.findAccount(login);
    if (organization === undefined || (organization && organization.type !== 'Organization'))
      return show(c, 'Not Found', [`There is no organization ${login}`], 404);
    const form = new URLSearchParams(await c.req.text());
    const read = readManifest(form.get('manifest') ?? '');
    if ('problems' in read) return show(c, 'Invalid GitHub App configuration', read.problems, 422);
    const { manifest } = read;
    const makers = people().filter(({ id }) => !organization || organization.members.get(id) === 'admin');
    const maker = makers.find(({ login }) => login === form.get('as'));
    if (!maker) return c.html(createPage(manifest, form.get('manifest') ?? '', organization, makers));

    const name = (form.get('name') ?? manifest.name ?? '').trim();
    const slug = name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '');
    if (slug === '') return show(c, 'Invalid GitHub App configuration', ["Name can't be blank"], 422);
    if (world.findAccount(`${slug}[bot]`))
      return show(c, 'Invalid GitHub App configuration', ['Name has already been taken'], 422);
    const isSecond =
      world.registeredApp !== null && manifest.default_permissions['administration'] === 'write';
    if (!isSecond && world.installations.size > 0)
      return show(c, 'The sandbox has one App', ['The present one is installed: uninstall it first'], 422);
    const app = create(name, slug, manifest, organization ?? maker, isSecond);
    const back = new URL(manifest.redirect_url ?? `${world.url}/apps/${slug}`);
    back.searchParams.set('code', codeFor(app));
    const state = c.req.query('state');
    if (state !== undefined) back.searchParams.set('state', state);
    return c.redirect(back.href);
  };

  function create(
    name: string,
    slug: string,
    manifest: Manifest,
    owner: Account,
    isSecond: boolean,
  ): AppIdentity {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const id = world.ids.next('app', 900_100);
    const app: AppIdentity = {
      id,
      slug,
      name,
      owner,
      isPublic: manifest.public,
      privateKey,
      clientId: `Iv23li${world.ids.characters(`client ${id}`, 14)}`,
      clientSecret: randomBytes(20).toString('hex'),
      callbackUrls: manifest.callback_urls,
      webhookSecret: manifest.hook_attributes?.active ? randomBytes(20).toString('hex') : '',
      permissions: manifest.default_permissions,
      events: manifest.default_events,
      homepage: manifest.url,
      setupUrl: manifest.setup_url,
    };
    addBot(slug);
    if (isSecond) {
      world.secondApps.push(app);
      return app;
    }
    world.registeredApp = app;
    webhooks.target = manifest.hook_attributes?.active ? manifest.hook_attributes.url : null;
    return app;
  }

  function codeFor(app: AppIdentity): string {
    const code = randomBytes(20).toString('hex');
    world.manifestCodes.set(code, { app, expiresAt: Date.now() + codeLifetime });
    return code;
  }

  api.post('/settings/apps/new', register);
  api.post('/organizations/:organization/settings/apps/new', register);
}

function createPage(manifest: Manifest, text: string, organization: Account | null, makers: Account[]) {
  const owner = organization?.login ?? 'your account';
  return webPage(
    `Create GitHub App for ${owner}`,
    html`<form method="post">
      <input type="hidden" name="manifest" value="${text}" />
      <p>
        <label
          >GitHub App name <input name="name" value="${manifest.name ?? ''}" maxlength="34" required
        /></label>
      </p>
      <p>
        <label>
          You are
          <select name="as">
            ${makers.map(({ login }) => html`<option>${login}</option>`)}
          </select>
        </label>
      </p>
      <button type="submit">Create GitHub App for ${owner}</button>
    </form>`,
  );
}
