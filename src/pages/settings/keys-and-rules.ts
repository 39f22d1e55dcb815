import { html } from 'hono/html';
import { newApplication, newOidcRule, readNewRule } from '../../api/v1/credentials.ts';
import { validate } from '../../api/read-request.ts';
import { nowOf } from '../../time/clock.ts';
import { createKey, listKeys, revokeKey } from '../../auth/application-key.ts';
import { createRule, deleteRule, rulesOf } from '../../auth/oidc/manage-rules.ts';
import type { OidcRule } from '../../auth/oidc/oidc-rule.ts';
import { actorIn } from '../../events/actor.ts';
import { ownerSettingsPath } from '../../page-paths.ts';
import type { ApplicationKey } from '../../generated/prisma/client.ts';
import type { OwnerChange } from '../change.ts';
import { linesOf } from '../condition-fields.ts';
import {
  chips,
  confirmation,
  type FormProblems,
  hiddenField,
  idField,
  ifSent,
  textArea,
  textField,
  trimmedField,
  type Typed,
  typedIn,
} from '../form.ts';
import type { Html } from '../html.ts';
import { instantText, type Times } from '../text.ts';
import { foldedForm, type Forms, type SettingsSection, secretPage } from './settings-form.ts';
import { day } from '../../time/units.ts';

/** The application keys of an owner. */
export async function keysOfOwner(section: SettingsSection): Promise<Html> {
  const { deps, account, action, problems, sent, times } = section;
  const key = typedIn(ifSent(sent, 'create-key'));
  const keys = await listKeys(deps, account);
  return html`<p>CI and tools call <a href="/help/api">the API</a> with an application key.</p>
    ${keys.length === 0 ? html`<p class="card">No application keys.</p>` : ''}
    ${keys.map((each) => keyRow(action, each, times))}
    ${foldedForm(
      section,
      { name: 'New key', does: 'create-key', fields: ['key_name', 'scope', 'expires_at'], act: 'Create key' },
      html`${textField({ name: 'key_name', label: 'Name', value: key.text('key_name'), problems, attributes: html`required maxlength="255"` })}
      ${chips('radio', { name: 'scope', label: 'Scope', problems }, scopes, [key.text('scope', 'ci')])}
      ${chips('radio', { name: 'days', label: 'Expires' }, expiries, [key.text('days', '90')])}`,
    )}`;
}

/** The OIDC rules of an owner, which let jobs in without a key. */
export async function jobRules(section: SettingsSection): Promise<Html> {
  const { deps, account, action, problems, sent } = section;
  const rule = typedIn(ifSent(sent, 'create-rule'));
  const rules = await rulesOf(deps.sql, account.id, nowOf(deps.clock));
  return html`<p>
      An OIDC rule lets <a href="/help/short-lived-keys">jobs of GitHub Actions</a> in without a key.
    </p>
    ${rules.length === 0 ? html`<p class="card">No OIDC rules.</p>` : ''}
    ${rules.map((each) => ruleRow(action, each))}
    ${foldedForm(
      section,
      { name: 'New rule', does: 'create-rule', fields: ruleFields, act: 'Create rule' },
      html`${textField({ name: 'rule_name', label: 'Name', value: rule.text('rule_name'), problems, attributes: html`required maxlength="255"` })}
      ${lines('repositories', 'Repositories', 'web', rule, problems)}
      ${lines('refs', 'Refs', 'refs/heads/main', rule, problems)}
      ${lines('environments', 'Environments', 'production', rule, problems)}
      ${chips('radio', { name: 'may', label: 'Jobs can', problems }, permissions, [rule.text('may', 'push_scopes')])}`,
    )}`;
}

const scopes = [
  { value: 'ci', label: 'ci: push scopes, read the state' },
  { value: 'admin', label: 'admin: everything that an admin can do' },
];
const expiries = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'Never' },
];
const permissions = [
  { value: 'push_scopes', label: 'Push scopes' },
  { value: 'freeze', label: 'Push scopes and freeze' },
];
const ruleFields = ['rule_name', 'repositories', 'refs', 'environments', 'may'];

const lines = (name: string, label: string, example: string, typed: Typed, problems: FormProblems): Html =>
  textArea({
    ...{ name, label, value: typed.text(name), problems },
    hint: html`One name or pattern on each line, such as <code>${example}</code>. Leave empty for any.`,
    attributes: html`spellcheck="false" autocapitalize="none"`,
  });

const keyRow = (action: string, key: ApplicationKey, times: Times): Html =>
  html`<div class="card">
    <strong><bdi>${key.name}</bdi></strong> <span class="badge past">${key.scope}</span>
    <p class="muted">
      Created ${instantText(key.createdAt, times)} by <bdi>${actorIn(key.createdBy).name}</bdi>,
      ${key.lastUsedAt ? html`last used ${instantText(key.lastUsedAt, times)}` : 'never used'},
      ${key.expiresAt ? html`${key.expiresAt <= times.now ? 'expired' : 'expires'} ${instantText(key.expiresAt, times)}` : 'does not expire'}
    </p>
    ${confirmation(
      'Revoke…',
      action,
      html`${hiddenField('do', 'revoke-key')} ${hiddenField('id', key.id)}
        <p>Whatever uses this key stops working at once, and so do the keys that it created.</p>`,
      'Revoke key',
    )}
  </div>`;

const ruleRow = (action: string, rule: OidcRule): Html =>
  html`<div class="card">
    <strong><bdi>${rule.name}</bdi></strong> <span class="badge past">${rule.may.at(-1)}</span>
    <p class="muted">
      ${listedKeys('Repositories', rule.repositories)}; ${listedKeys('refs', rule.refs)};
      ${listedKeys('environments', rule.environments)}. Created by <bdi>${actorIn(rule.createdBy).name}</bdi>.
    </p>
    ${confirmation('Delete…', action, html`${hiddenField('do', 'delete-rule')} ${hiddenField('id', rule.id)}`, 'Delete rule')}
  </div>`;

const listedKeys = (what: string, globs: string[] | null): string => `${what}: ${globs?.join(', ') ?? 'any'}`;

/** Shows the secret of the new key. */
async function createKeyByForm(change: OwnerChange): Promise<Response> {
  const { deps, actor, account, form } = change;
  const days = Number(form.get('days') ?? '');
  const expiresAt = days > 0 ? new Date(nowOf(deps.clock).getTime() + days * day) : null;
  const sent = { name: trimmedField(form, 'key_name'), scope: form.get('scope') };
  const { name, scope } = validate(newApplication, sent, 'body');
  const { key, secret } = await createKey(deps, actor, account, { name, scope, expiresAt });
  return secretPage(change, {
    title: `New key: ${key.name}`,
    notice: 'Copy the key now.',
    secret,
    back: ownerSettingsPath(account.login, 'keys'),
  });
}

async function createRuleByForm({ deps, actor, account, form }: OwnerChange): Promise<void> {
  const globs = (name: string) => {
    const given = linesOf(form.get(name) ?? '');
    return given.length > 0 ? given : null;
  };
  const body = {
    name: trimmedField(form, 'rule_name'),
    repositories: globs('repositories'),
    refs: globs('refs'),
    environments: globs('environments'),
    may: form.get('may') === 'freeze' ? ['push_scopes', 'freeze'] : ['push_scopes'],
  };
  await createRule(deps, actor, account, readNewRule(validate(newOidcRule, body, 'body')));
}

export const keyForms: Forms = {
  'create-key': createKeyByForm,
  'revoke-key': ({ deps, actor, account, form }) => revokeKey(deps, actor, account, idField(form, 'id')),
};

export const jobRuleForms: Forms = {
  'create-rule': createRuleByForm,
  'delete-rule': ({ deps, actor, account, form }) => deleteRule(deps, actor, account, idField(form, 'id')),
};
