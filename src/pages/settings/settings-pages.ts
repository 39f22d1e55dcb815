import { html } from 'hono/html';
import {
  firstStepsPath,
  ownerPath,
  ownerSettingsPath,
  repositoryPath,
  repositorySettingsPath,
} from '../../installations/page-paths.ts';
import {
  changeOwnerSettings,
  setDefaultProducts,
  showOwnerSettings,
  changeRepositorySettings,
  setRepositoryProducts,
  showRepositorySettings,
} from '../../installations/settings.ts';
import { forbidden } from '../../errors.ts';
import { answerForm, type OwnerChange, type RepositoryChange } from '../change.ts';
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
import {
  howToGrant,
  isGranted,
  readExtraPermissions,
  deploymentFindings,
} from '../repository/enforcement.ts';
import type { Html } from '../layout.ts';
import { messageOf, showPage } from '../message-page.ts';
import type { OwnerVisit } from '../owner/open-owner.ts';
import { signInFirst, timesOf, permissionOf, type RepositoryVisit } from '../reader.ts';
import { removeTemplate, savedTemplates } from '../../freezes/templates.ts';
import { keyAndRuleForms, keysAndRules } from './keys-and-rules.ts';
import { webhookForms, webhooksSection } from './webhooks.ts';
import {
  adminsOnly,
  type Forms,
  type Section,
  productsForm,
  readProductsForm,
  readSettingsForm,
  settingsForm,
} from './settings-form.ts';
import { lockAppForms, lockAppSection } from './lock-app.ts';
import { slackApp, slackForms } from './slack.ts';
import { refusedPushes } from '../../explanations/enforcement/refused-pushes.ts';
import { fullName } from '../../installations/find-repository.ts';
import { recentEnforcement } from '../../explanations/enforcement/recent-enforcement.ts';

/** `GET /owners/{owner}/settings`. */
export async function showOwnerSettingsPage(visit: OwnerVisit): Promise<Response> {
  const { account, viewer, isAdmin } = visit;
  if (!viewer) return signInFirst(visit);
  if (isAdmin) return ownerSettings(visit);
  return adminsOnly(visit, account.login, { href: ownerPath(account.login), text: 'Back to the overview' });
}

/** What each form of the page does, by its `do`. */
const forms: Forms = {
  async settings({ deps, actor, account, form }) {
    assertFresh(form, digestOf(await showOwnerSettings(deps, account)), 'these settings');
    await changeOwnerSettings(deps, actor, account, readSettingsForm(form, false));
  },
  products: ({ deps, actor, account, form }) =>
    setDefaultProducts(deps, actor, account, readProductsForm(form)),
  'remove-template': ({ deps, actor, account, form }) =>
    removeTemplate(deps, actor, account, textOf(form, 'template')),
  ...keyAndRuleForms,
  ...lockAppForms,
  ...slackForms,
  ...webhookForms,
};

/** Fields that have other names in the API. */
const apiNames: Record<string, Record<string, string>> = {
  'create-key': { name: 'key_name' },
  'create-rule': { name: 'rule_name' },
  'create-webhook': { repositories: 'webhook_repositories' },
  'update-webhook': { repositories: 'webhook_repositories' },
};

/** `POST /owners/{owner}/settings`. */
export const sendOwnerSettings = (change: OwnerChange): Promise<Response> =>
  answerForm(
    change,
    async () => {
      const { account, administered, form } = change;
      // Nobody else but its admins: a role for freezes opens no settings.
      if (administered !== null) throw forbidden(`Only admins of ${account.login} can change its settings.`);
      const done = await forms[form.get('do') ?? '']?.(change);
      return done instanceof Response ? done : `${ownerSettingsPath(account.login)}?said=saved`;
    },
    (problems) => ownerSettings(change, problems, change.form),
    (error) => problemsOf(error, apiNames[change.form.get('do') ?? '']),
  );

async function ownerSettings(
  visit: Pick<OwnerVisit, 'deps' | 'context' | 'viewer' | 'account'>,
  problems: FormProblems = noProblems,
  sent: URLSearchParams | null = null,
): Promise<Response> {
  const { deps, context, account } = visit;
  const { login, id } = account;
  const action = ownerSettingsPath(login);
  const settings = await showOwnerSettings(deps, account);
  const { defaultProducts } = await deps.db.account.findUniqueOrThrow({ where: { id } });
  const templates = await savedTemplates(deps.db, id);
  const section: Section = { deps, account, action, problems, sent, times: timesOf(visit) };
  const extra = await readExtraPermissions(deps, { account, installation: account.installation });
  const refused =
    (await deps.github.lock.id()) === null
      ? []
      : ['The settings of each repository list who pushes directly.'];
  const body = html`<h1>Settings of ${login}</h1>
    ${messageOf(context)}
    <p>These settings apply unless a repository overrides them.</p>
    ${settingsForm({ action, settings, owner: null, refused, problems, sent })}
    ${productsForm(action, 'Products of new repositories', defaultProducts, sent)}
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
    ${templates.map(({ name, reason }) => templateRow(action, name, reason))} ${await lockAppSection(section)}
    ${await slackApp(section)} ${await webhooksSection(section)} ${await keysAndRules(section)}`;
  const page = { title: `Settings of ${login}`, body, owner: login, tab: 'settings' } as const;
  return showPage(visit, { ...page, crumbs: [{ name: 'Settings' }] }, problems.size > 0 ? 422 : 200);
}

const templateRow = (action: string, name: string, reason: string): Html =>
  html`<div class="card">
    <strong><bdi>${name}</bdi></strong> <span class="muted">${reason}</span>
    ${confirmation('Remove…', action, html`${hidden('do', 'remove-template')} ${hidden('template', name)}`, `Remove ${name}`)}
  </div>`;

/** `GET /repos/{owner}/{repository}/settings`. */
export async function showRepositorySettingsPage(visit: RepositoryVisit): Promise<Response> {
  const { repository, viewer } = visit;
  if (!viewer) return signInFirst(visit);
  if ((await permissionOf(visit)) === 'admin') return repositorySettings(visit);
  const link = { href: repositoryPath(repository), text: 'Back to the repository' };
  return adminsOnly(visit, fullName(repository), link);
}

/** `POST /repos/{owner}/{repository}/settings`. `do` names the form. */
export const sendRepositorySettings = (change: RepositoryChange): Promise<Response> =>
  answerForm(
    change,
    async () => {
      const { deps, actor, repository, form } = change;
      if (form.get('do') === 'products')
        await setRepositoryProducts(deps, actor, repository, readProductsForm(form));
      else {
        const settings = await showRepositorySettings(deps, repository);
        assertFresh(form, digestOf(settings), 'these settings');
        await changeRepositorySettings(deps, actor, repository, readSettingsForm(form, true));
      }
      return `${repositorySettingsPath(repository)}?said=saved`;
    },
    (problems) => repositorySettings(change, problems, change.form),
  );

async function repositorySettings(
  visit: Pick<RepositoryVisit, 'deps' | 'context' | 'viewer' | 'repository'>,
  problems: FormProblems = noProblems,
  sent: URLSearchParams | null = null,
): Promise<Response> {
  const { deps, context, repository } = visit;
  const { login } = repository.account;
  const action = repositorySettingsPath(repository);
  const settings = await showRepositorySettings(deps, repository);
  const refused = (await deps.github.lock.id()) === null ? [] : await refusedPushes(deps, repository);
  const extra = await readExtraPermissions(deps, repository);
  const { products } = await deps.db.repository.findUniqueOrThrow({ where: { id: repository.id } });
  const body = html`<h1>Settings of ${repository.name}</h1>
    ${messageOf(context)} ${settingsForm({ action, settings, owner: login, refused, problems, sent })}
    ${productsForm(action, 'Products', products, sent)}
    <h2 id="deployments">Deployments</h2>
    ${
      isGranted(extra, 'deployments')
        ? deploymentFindings(await recentEnforcement(deps, repository))
        : howToGrant(extra, 'deployments')
    }`;
  const crumbs = [{ name: repository.name, href: repositoryPath(repository) }, { name: 'Settings' }];
  const page = { title: `Settings of ${repository.name}`, body, owner: login, crumbs };
  return showPage(visit, page, problems.size > 0 ? 422 : 200);
}
