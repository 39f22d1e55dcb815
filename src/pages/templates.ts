import { html } from 'hono/html';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Account } from '../generated/prisma/client.ts';
import { lockAccount } from '../installations/find-account.ts';
import type { OwnerChange } from './change.ts';
import type { Exceptions, HeldFields } from './condition-fields.ts';
import { type FormProblems, requiredText, textField } from './form.ts';
import type { Duration } from './freeze-now/freeze-form.ts';
import type { Html } from './layout.ts';
import { cutText } from '../cut-text.ts';

// Templates fill in the forms that freeze. They set nothing that a person cannot see and change before the preview.

/** The fields that *Freeze now* and a new plan start with. */
type Template = {
  name: string;
  reason: string;
  duration: Duration;
  exceptions: Exceptions;
} & Partial<HeldFields>;

const hotfixes: Exceptions = { usual: ['label=hotfix'], lines: '' };

/** Every owner has them. A saved template with the same name replaces one. */
const builtIn: Template[] = [
  { name: 'Incident', reason: 'Incident', duration: 'open', exceptions: hotfixes },
  { name: 'Release', reason: 'Release', duration: '4h', exceptions: hotfixes },
  { name: 'Holiday', reason: 'Holiday', duration: 'until', exceptions: hotfixes },
];

/** The templates that an owner saved, by name. */
export async function savedTemplates(tx: Tx, accountId: bigint): Promise<Template[]> {
  const { templates } = await tx.account.findUniqueOrThrow({
    where: { id: accountId },
    select: { templates: true },
  });
  return templates as Template[];
}

/** All templates of an owner: the built-in ones first. */
export async function templatesOf(tx: Tx, accountId: bigint): Promise<Template[]> {
  const saved = await savedTemplates(tx, accountId);
  const names = new Set(saved.map(({ name }) => name));
  return [...builtIn.filter(({ name }) => !names.has(name)), ...saved];
}

/** The query of a form, with what its `template` fills in. What the query itself names counts more. */
export function fillIn(query: URLSearchParams, templates: Template[]): URLSearchParams {
  const template = templates.find(({ name }) => name === query.get('template'));
  if (!template) return query;
  const { reason, duration, exceptions, holds = '', environments = '', onDeployment = '' } = template;
  const held = { holds, environments, on_deployment: onDeployment };
  const filled = new URLSearchParams({ reason, duration, exceptions: exceptions.lines, ...held });
  for (const each of exceptions.usual) filled.append('exception', each);
  for (const name of new Set(query.keys())) filled.delete(name);
  for (const [name, value] of query) filled.append(name, value);
  return filled;
}

/** The form of this path, with a template. */
export const templatePath = (path: string, name: string): string =>
  `${path}?${new URLSearchParams({ template: name })}`;

/** Links that fill in the form. @param query of the form, whose repositories and start they keep. */
export function templateLinks(path: string, query: URLSearchParams, templates: Template[]): Html {
  const linkTo = (name: string) => {
    const filled = new URLSearchParams(query);
    filled.set('template', name);
    return `${path}?${filled}`;
  };
  const chosen = query.get('template');
  return html`<nav class="chips" aria-label="Templates">
    ${templates.map(
      ({ name }) =>
        html`<a href="${linkTo(name)}" ${name === chosen ? html`aria-current="true"` : ''}
          ><bdi>${name}</bdi></a
        >`,
    )}
  </nav>`;
}

/** Saves what the form says for the next time. For admins of the owner. */
export const saveAsTemplate = (problems: FormProblems): Html =>
  html`<details ${problems.has('template_name') ? html`open` : ''}>
    <summary>Save as template</summary>
    <div class="find">
      ${textField({ name: 'template_name', label: 'Name of the template', problems, hint: 'It keeps the reason, the duration, the exceptions and what the freeze blocks.', attributes: html`maxlength="${longestName}"` })}
      <button type="submit" name="step" value="template" class="quiet">Save template</button>
    </div>
  </details>`;

const longestName = 60;
const most = 20;

/**
 * Saves the fields of a form as a template, in the place of one with the same name.
 * @returns its name. @throws Refusal invalid for a form without a name; forbidden; conflict if there are too many.
 */
export async function saveTemplate(
  { deps, actor, account, viewer, form }: OwnerChange,
  fields: Omit<Template, 'name'>,
): Promise<string> {
  if (!(await deps.permissions.isOwnerAdmin(deps, viewer, account)))
    throw forbidden(`Only admins of ${account.login} can save templates.`);
  const name = cutText(requiredText(form, 'template_name', 'Enter a name for the template.'), longestName);
  await changeTemplates(deps, actor, account, (before) => {
    const others = before.filter((each) => each.name !== name);
    if (others.length >= most)
      throw conflict(`${account.login} has ${most} templates. Remove one before you save another.`);
    return [...others, { name, ...fields }];
  });
  return name;
}

export const removeTemplate = (
  deps: Pick<Deps, 'db' | 'clock'>,
  actor: Actor,
  account: Pick<Account, 'id'>,
  name: string,
): Promise<void> =>
  changeTemplates(deps, actor, account, (before) => before.filter((each) => each.name !== name));

async function changeTemplates(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  actor: Actor,
  { id }: Pick<Account, 'id'>,
  change: (before: Template[]) => Template[],
): Promise<void> {
  await db.$transaction(async (tx) => {
    await lockAccount(tx, id);
    const before = await savedTemplates(tx, id);
    const after = change(before).toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
    await tx.account.update({ where: { id }, data: { templates: after } });
    const metadata = { templates_before: before, templates_after: after };
    await appendEvent(
      tx,
      { accountId: id },
      { type: 'freeze_templates.update', metadata },
      actor,
      nowOf(clock),
    );
  });
}
