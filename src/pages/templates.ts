import { html } from 'hono/html';
import { forbidden } from '../errors.ts';
import { type FreezeTemplate, longestTemplateName, saveTemplate } from '../settings/templates.ts';
import type { OwnerChange } from './change.ts';
import { type FormProblems, requiredText, textField } from './form.ts';
import type { Html } from './html.ts';

// How forms start with a template, and save what they say as one.

/** The query of a form, with what its `template` fills in. What the query itself names counts more. */
export function fillIn(query: URLSearchParams, templates: FreezeTemplate[]): URLSearchParams {
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
export function templateLinks(path: string, query: URLSearchParams, templates: FreezeTemplate[]): Html {
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
      ${textField({ name: 'template_name', label: 'Name of the template', problems, hint: 'It keeps the reason, the duration, the exceptions and what the freeze blocks.', attributes: html`maxlength="${longestTemplateName}"` })}
      <button type="submit" name="step" value="template" class="quiet">Save template</button>
    </div>
  </details>`;

/**
 * Saves the fields of a form as a template.
 * @returns its name. @throws Refusal invalid for a form without a name; forbidden; conflict if there are too many.
 */
export async function saveAsNamed(
  { deps, actor, account, viewer, form }: OwnerChange,
  fields: Omit<FreezeTemplate, 'name'>,
): Promise<string> {
  if (!(await deps.permissions.isOwnerAdmin(deps, viewer, account)))
    throw forbidden(`Only admins of ${account.login} can save templates.`);
  const name = requiredText(form, 'template_name', 'Enter a name for the template.');
  return saveTemplate(deps, actor, account, { name, ...fields });
}
