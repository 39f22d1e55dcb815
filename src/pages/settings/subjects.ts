import { html } from 'hono/html';
import { firstStepsPath } from '../../page-paths.ts';
import { changeOwnerSettings, setDefaultProducts, showOwnerSettings } from '../../settings/settings.ts';
import { confirmation, hiddenField, trimmedField } from '../form.ts';
import type { Html } from '../html.ts';
import { howToGrant, isGranted, readExtraPermissions } from '../repository/enforcement.ts';
import { removeTemplate, savedTemplates } from '../../settings/templates.ts';
import { jobRuleForms, jobRules, keyForms, keysOfOwner } from './keys-and-rules.ts';
import { lockAppForms, lockAppSection } from './lock-app.ts';
import {
  assertFreshSettings,
  type Forms,
  productsForm,
  readProductsForm,
  readSettingsForm,
  type SettingsSection,
  settingsForm,
} from './settings-form.ts';
import { slackApp, slackForms } from './slack.ts';
import { webhookForms, webhooksSection } from './webhooks.ts';

// What the settings of an owner are about. Each subject has a page of its own, and the forms of that page.

/** @property name in the list and as heading. @property anchor of it on the page that had them all. */
type SubjectPage = {
  name: string;
  anchor?: string;
  show: (section: SettingsSection) => Html | Promise<Html>;
  forms: Forms;
};

/** The form of some settings of the owner. */
async function settingsOf(
  section: SettingsSection,
  columns: Parameters<typeof settingsForm>[0]['columns'],
  refused: string[] = [],
): Promise<Html> {
  const { deps, account, action, problems, sent } = section;
  const settings = await showOwnerSettings(deps, account);
  const place = { account, installation: account.installation };
  return settingsForm({ deps, place, action, settings, columns, owner: null, refused, problems, sent });
}

const saveSettings: Forms = {
  async settings({ deps, actor, account, form }) {
    assertFreshSettings(form, await showOwnerSettings(deps, account));
    await changeOwnerSettings(deps, actor, account, readSettingsForm(form, false));
  },
};

/** In the order of the list. */
export const subjects = {
  general: {
    name: 'General',
    async show(section) {
      const { deps, account, action, sent } = section;
      const { defaultProducts } = await deps.db.account.findUniqueOrThrow({ where: { id: account.id } });
      return html`${await settingsOf(section, ['longest_open_end_hours', 'comment_commands'])}
      ${productsForm(action, 'Products of new repositories', defaultProducts, sent)}`;
    },
    forms: {
      ...saveSettings,
      products: ({ deps, actor, account, form }) =>
        setDefaultProducts(deps, actor, account, readProductsForm(form)),
    },
  },
  roles: {
    name: 'Roles',
    show: (section) => settingsOf(section, ['freezers', 'approvers']),
    forms: saveSettings,
  },
  exemptions: {
    name: 'Exemptions',
    show: (section) => settingsOf(section, ['two_person_exemptions']),
    forms: saveSettings,
  },
  deployments: {
    name: 'Deployments',
    async show(section) {
      const { deps, account } = section;
      const extra = await readExtraPermissions(deps, { account, installation: account.installation });
      return html`${
        isGranted(extra, 'deployments')
          ? html`<p>
              The App has the permissions for deployments.
              <a href="${firstStepsPath(account.login)}#deployments">See which environments have the rule</a>.
            </p>`
          : howToGrant(extra, 'deployments')
      }
      ${await settingsOf(section, ['release_deployments'])}`;
    },
    forms: saveSettings,
  },
  'instant-hold': {
    name: 'Instant hold',
    async show(section) {
      const hasLock = (await section.deps.github.lock.id()) !== null;
      const refused = hasLock ? ['The settings of each repository list who pushes directly.'] : [];
      return html`${await settingsOf(section, ['instant_hold'], refused)} ${await lockAppSection(section)}`;
    },
    forms: { ...saveSettings, ...lockAppForms },
  },
  slack: { name: 'Slack', show: slackApp, forms: slackForms },
  webhooks: { name: 'Webhooks', show: webhooksSection, forms: webhookForms },
  keys: { name: 'Keys', show: keysOfOwner, forms: keyForms },
  jobs: { name: 'Jobs', anchor: 'rules', show: jobRules, forms: jobRuleForms },
  templates: {
    name: 'Templates',
    async show({ deps, account, action }) {
      const templates = await savedTemplates(deps.db, account.id);
      return html`${templates.length === 0 ? html`<p class="card">No saved templates. To save one, fill in a freeze and select <strong>Save as template</strong>.</p>` : ''}
      ${templates.map(({ name, reason }) => templateRow(action, name, reason))}`;
    },
    forms: {
      'remove-template': ({ deps, actor, account, form }) =>
        removeTemplate(deps, actor, account, trimmedField(form, 'template')),
    },
  },
} satisfies Record<string, SubjectPage>;

export type Subject = keyof typeof subjects;

export const pageOfSubject = (subject: Subject): SubjectPage => subjects[subject];

export const isSubject = (name: string): name is Subject => Object.hasOwn(subjects, name);

/**
 * The subject that a form belongs to: that of its page, else the one that has it.
 * @param does the `do` of the form.
 */
export const subjectOf = (page: Subject, does: string): Subject =>
  (Object.keys(subjects) as Subject[])
    .toSorted((one, other) => Number(other === page) - Number(one === page))
    .find((each) => Object.hasOwn(pageOfSubject(each).forms, does)) ?? page;

const templateRow = (action: string, name: string, reason: string): Html =>
  html`<div class="card">
    <strong><bdi>${name}</bdi></strong> <span class="muted">${reason}</span>
    ${confirmation('Remove…', action, html`${hiddenField('do', 'remove-template')} ${hiddenField('template', name)}`, `Remove ${name}`)}
  </div>`;
