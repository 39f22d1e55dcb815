import { html } from 'hono/html';
import { firstStepsPath, ownerPath, ownerSettingsPath } from '../../installations/page-paths.ts';
import { changeOwnerSettings, setDefaultProducts, showOwnerSettings } from '../../installations/settings.ts';
import { forbidden } from '../../errors.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import { answerForm, type OwnerChange } from '../change.ts';
import {
  assertFresh,
  confirmation,
  digestOf,
  type FormProblems,
  hidden,
  noProblems,
  problemsOf,
  textOf,
} from '../form.ts';
import { howToGrant, isGranted, readExtraPermissions } from '../extra-permissions.ts';
import { type Html, layout } from '../layout.ts';
import { messageOf } from '../message-page.ts';
import type { OwnerVisit } from '../owner/open-owner.ts';
import { signInFirst, timesOf } from '../reader.ts';
import { removeTemplate, savedTemplates } from '../templates.ts';
import {
  createKeyByForm,
  createRuleByForm,
  keysAndRules,
  revokeKeyByForm,
  deleteRuleByForm,
} from './keys-and-rules.ts';
import { createWebhookByForm, rotateWebhookByForm, webhookForms, webhooksSection } from './webhooks.ts';
import {
  adminsOnly,
  productsForm,
  readProductsForm,
  readSettingsForm,
  settingsForm,
} from './settings-form.ts';
import { createLockAppByForm, forgetLockAppByForm, lockAppSection } from './lock-app.ts';
import { connectSlackByForm, disconnectSlackByForm, slackApp } from './slack-app.ts';

/** `GET /owners/{owner}/settings`. */
export async function showOwnerSettingsPage(visit: OwnerVisit): Promise<Response> {
  const { account, viewer, isAdmin } = visit;
  if (!viewer) return signInFirst(visit);
  if (isAdmin) return page(visit, account);
  return adminsOnly(visit, account.login, { href: ownerPath(account.login), text: 'Back to the overview' });
}

/** What each form of the page does, by its `do`. */
const forms: Record<string, (change: OwnerChange) => Promise<unknown>> = {
  async settings({ deps, actor, account, form }) {
    assertFresh(form, digestOf(await showOwnerSettings(deps, account)), 'these settings');
    await changeOwnerSettings(deps, actor, account, readSettingsForm(form, false));
  },
  products: ({ deps, actor, account, form }) =>
    setDefaultProducts(deps, actor, account, readProductsForm(form)),
  'remove-template': ({ deps, actor, account, form }) =>
    removeTemplate(deps, actor, account, textOf(form, 'template')),
  'revoke-key': revokeKeyByForm,
  'create-rule': createRuleByForm,
  'delete-rule': deleteRuleByForm,
  'connect-slack': connectSlackByForm,
  'disconnect-slack': disconnectSlackByForm,
  'forget-lock-app': forgetLockAppByForm,
  ...webhookForms,
};

/** Forms that answer with a page of their own, such as one that shows a secret, once. */
const formsWithPage: Record<string, (change: OwnerChange) => Promise<Response | string>> = {
  'create-key': createKeyByForm,
  'create-lock-app': createLockAppByForm,
  'create-webhook': createWebhookByForm,
  'rotate-webhook': rotateWebhookByForm,
};

/** Fields that have other names in the API. */
const apiNames: Record<string, Record<string, string>> = {
  'create-key': { name: 'key_name' },
  'create-rule': { name: 'rule_name' },
  'create-webhook': { repositories: 'webhook_repositories' },
};

/** `POST /owners/{owner}/settings`. */
export const sendOwnerSettings = (change: OwnerChange): Promise<Response> =>
  answerForm(
    change,
    async () => {
      const { account, administered, form } = change;
      // Nobody else but its admins: a role for freezes opens no settings.
      if (administered !== null) throw forbidden(`Only admins of ${account.login} can change its settings.`);
      const what = form.get('do') ?? '';
      const page = await formsWithPage[what]?.(change);
      if (page !== undefined) return page;
      await forms[what]?.(change);
      return `${ownerSettingsPath(account.login)}?said=saved`;
    },
    (problems) => page(change, change.account, problems),
    (error) => problemsOf(error, apiNames[change.form.get('do') ?? '']),
  );

async function page(
  visit: Pick<OwnerVisit, 'deps' | 'context' | 'viewer'>,
  account: InstalledAccount,
  problems: FormProblems = noProblems,
): Promise<Response> {
  const { deps, context, viewer } = visit;
  const { login, id } = account;
  const action = ownerSettingsPath(login);
  const settings = await showOwnerSettings(deps, account);
  const { defaultProducts } = await deps.db.account.findUniqueOrThrow({ where: { id } });
  const templates = await savedTemplates(deps.db, id);
  const times = timesOf(visit);
  const extra = await readExtraPermissions(deps, { account, installation: account.installation });
  const refused =
    (await deps.github.lock.id()) === null
      ? []
      : ['The settings of each repository list who pushes directly.'];
  const body = html`<h1>Settings of ${login}</h1>
    ${messageOf(context)}
    <p>These settings apply unless a repository overrides them.</p>
    ${settingsForm({ action, settings, owner: null, refused, problems })}
    ${productsForm(action, 'Products of new repositories', defaultProducts)}
    <h2 id="deployments">Deployments</h2>
    ${
      isGranted(extra, 'deployments')
        ? html`<p>
            The App has the permissions for deployments.
            <a href="${firstStepsPath(login)}#deployments">See which environments have the rule</a>.
          </p>`
        : howToGrant(extra, 'deployments')
    }
    <h2>Templates</h2>
    ${templates.length === 0 ? html`<p>No saved templates. To save one, fill in a freeze and select <strong>Save as template</strong>.</p>` : ''}
    ${templates.map(({ name, reason }) => templateRow(action, name, reason))}
    ${await lockAppSection(deps, account, action, times)}
    ${await slackApp(deps, account, action, problems, times)}
    ${await webhooksSection(deps, account, action, problems, times)}
    ${await keysAndRules(deps, account, action, problems, times)}`;
  const title = `Settings of ${login}`;
  const { zone } = times;
  return context.html(
    await layout({
      title,
      body,
      viewer,
      owner: login,
      tab: 'settings',
      crumbs: [{ name: 'Settings' }],
      zone,
    }),
    problems.size > 0 ? 422 : 200,
  );
}

const templateRow = (action: string, name: string, reason: string): Html =>
  html`<div class="card">
    <strong><bdi>${name}</bdi></strong> <span class="muted">${reason}</span>
    ${confirmation('Remove…', action, html`${hidden('do', 'remove-template')} ${hidden('template', name)}`, `Remove ${name}`)}
  </div>`;
