import type { Context } from 'hono';
import { html } from 'hono/html';
import { authorizeOwner } from '../../auth/authorize.ts';
import { actorOf } from '../../auth/caller.ts';
import { attemptSeconds, beginAttempt, readAttempt, writeAttempt } from '../../auth/sign-in/attempt.ts';
import {
  cookieNamed,
  dropCookie,
  readCookie,
  releaseAttempt,
  useAttempt,
  writeCookie,
} from '../../auth/sign-in/sessions.ts';
import type { Config } from '../../config.ts';
import type { Deps } from '../../deps.ts';
import { type AppOwner, convertManifest, isCode } from '../../github/app-credentials-store.ts';
import { type AppManifest, lockManifestFor } from '../../github/app-manifest.ts';
import { ownerOfFirstApp, saveSecondApp, type SecondAppAdmin } from '../../github/second-app.ts';
import { nameOfGitHub, webUrlOf } from '../../github/web-url.ts';
import { installedPath, lockAppCallbackPath } from '../../page-paths.ts';
import type { Html } from '../html.ts';
import { type PageMessage, messagePage } from '../message-page.ts';
import { signInFirst, type Visit } from '../reader.ts';

// The second App by a manifest. It belongs to the owner of the first one: whoever can take a key of it at GitHub can take
// one of the first App, too.

type Beginning = Pick<Deps, 'clock'> & { config: Pick<Config, 'publicUrl' | 'githubApiUrl'> & Keys };
type Keys = Pick<Config, 'secretKey' | 'secretKeyPrevious'>;

/** As long as GitHub's codes live. */
const seconds = 6 * attemptSeconds;
const cookieOf = (config: Beginning['config'], state: string) =>
  cookieNamed(config, `lock-app-${state.slice(0, 8)}`);

/** Where the setup page goes on. Nobody signs in there: who could begin entered its code, and made the first App. */
export const fromSetup = '/';

/** Begins the way to GitHub. Only this browser can return, once. @param owner of the first App. @param to where it ends. */
export async function beginLockApp(
  { config, clock }: Beginning,
  context: Context,
  { login, type }: AppOwner,
  to: string,
): Promise<NewAppOffer> {
  const attempt = beginAttempt(to, clock.now(), seconds);
  await writeCookie(context, cookieOf(config, attempt.state), writeAttempt(attempt), seconds);
  const path = newAppPath(type === 'Organization' ? login : null);
  return {
    manifest: lockManifestFor(login, config.publicUrl, `${config.publicUrl}${lockAppCallbackPath}`),
    action: `${webUrlOf(config.githubApiUrl)}${path}?state=${attempt.state}`,
    owner: login,
  };
}

const again =
  'Start again on the settings page. If GitHub already created an App, delete it first: on GitHub, go to Settings, Developer settings, GitHub Apps.';

/** `GET /lock-app/callback`: GitHub sends back the person who created the second App. */
export async function finishLockApp(visit: Visit): Promise<Response> {
  const { deps, context, viewer } = visit;
  const { code = '', state = '' } = context.req.query();
  const stop = (message: PageMessage) => messagePage(context, message, viewer);
  const unusable = (text: string) => stop({ status: 409, title: 'This App cannot be used', text });
  const cookie = cookieOf(deps.config, state);
  const attempt = readAttempt(await readCookie(context, cookie), state, deps.clock.now());
  if (!attempt || !isCode(code)) {
    deps.log.warn('refused a return from GitHub that did not start in this browser');
    const text = `Or it started more than an hour ago. ${again}`;
    return stop({ status: 403, title: 'This did not start in this browser', text });
  }
  const owner = await ownerOfFirstApp(deps);
  if (!owner) return unusable(notForOwner);
  let admin: SecondAppAdmin | null = null;
  if (attempt.to !== fromSetup) {
    if (!viewer) return signInFirst(visit);
    const caller = { kind: 'session', person: viewer } as const;
    const account = await authorizeOwner(deps, caller, owner.login, 'change', { isLive: true });
    admin = { accountId: account.id, actor: actorOf(deps, caller) };
  }
  if (!(await useAttempt(deps, attempt)))
    return stop({ status: 403, title: 'This link was already used', text: again });
  const app = await convertManifest(deps, code, { again, hasWebhooks: false });
  if ('heading' in app) {
    if (!app.isOver) await releaseAttempt(deps, attempt);
    return stop({ ...app, title: app.heading });
  }
  dropCookie(context, cookie);
  const problem = await saveSecondApp(deps, app, owner, admin);
  if (problem) return unusable(`${problem} Delete the App ${app.name} at ${app.htmlUrl}.`);
  if (admin) return context.redirect(`${attempt.to}?said=saved`, 303);
  return context.redirect(`${installedPath}?said=second-app`, 303);
}

const notForOwner =
  'The first App belongs to no person or organization. Set LOCK_APP_ID and LOCK_PRIVATE_KEY instead.';

/** A GitHub App that is to be made: its manifest, and the page at GitHub that takes it. */
export type NewAppOffer = { manifest: AppManifest; action: string; owner: string };

/** A summary of a new App. The button leads to GitHub. @param beside the button. */
export const newAppForm = ({ manifest, action, owner }: NewAppOffer, beside: Html | '' = ''): Html =>
  html`<p>GitHub asks you to confirm the name. Choose <i>Create GitHub App</i> to return here.</p>
    <dl class="card facts">
      <dt>Name</dt>
      <dd>${manifest.name}</dd>
      <dt>Owner</dt>
      <dd>${owner}</dd>
      ${
        manifest.hook_attributes.active
          ? html`<dt>Webhook URL</dt>
              <dd><code>${manifest.hook_attributes.url}</code></dd>`
          : ''
      }
      <dt>Permissions</dt>
      <dd>
        ${Object.entries(manifest.default_permissions)
          .map(([name, level]) => `${name.replaceAll('_', ' ')}: ${level}`)
          .join(', ')}
      </dd>
    </dl>
    <form method="post" action="${action}">
      <input type="hidden" name="manifest" value="${JSON.stringify(manifest)}" />
      <button type="submit" class="next">Continue to ${nameOfGitHub(action)}</button>
      ${beside}
    </form>`;

/** The path of GitHub's page that creates an App for an organization, or for the person who is signed in there (null). */
export const newAppPath = (organization: string | null): string =>
  `${organization === null ? '' : `/organizations/${organization}`}/settings/apps/new`;
