import { html } from 'hono/html';
import type { FreezeRecord } from '../../freezes/list-freezes.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { freezePath } from '../../installations/page-paths.ts';
import { toLines } from '../condition-lines.ts';
import { extendForms, fieldTime } from '../extend.ts';
import { confirmation, type Field, noProblems, textArea, textField, versionField } from '../form.ts';
import type { Html } from '../layout.ts';
import type { FreezeState } from '../repository/freeze-state.ts';
import type { RefusedForm } from './show-freeze.ts';

/** What an admin can do with a freeze that is not over. Each has its own form and URL. */
export const changesOfFreeze = ['edit', 'extend', 'end', 'delete'] as const;
export type ChangeOfFreeze = (typeof changesOfFreeze)[number];

/** @param refused the form that was refused: its fields keep what was typed. */
export function changeForms(
  repository: FoundRepository,
  freeze: FreezeRecord,
  state: FreezeState,
  refused: RefusedForm | null,
): Html {
  const to = (change: ChangeOfFreeze) => `${freezePath(repository, freeze.id)}/${change}`;
  const version = versionField(String(freeze.version));
  return html`<div class="actions">
    ${extendForms(to('extend'), version, freeze)}
    ${
      state === 'ongoing'
        ? confirmation(
            'End now…',
            to('end'),
            html`${version}
              <p>The pull requests that it holds can merge again.</p>`,
            'End freeze now',
          )
        : ''
    }
    ${confirmation('Delete…', to('delete'), html`${version}${whyDelete}`, 'Delete freeze')}
    <details class="confirm" ${refused?.change === 'edit' ? html`open` : ''}>
      <summary class="button quiet">Edit…</summary>
      ${editForm(to('edit'), freeze, state, refused?.change === 'edit' ? refused : null)}
    </details>
  </div>`;
}

const whyDelete = textField({
  name: 'delete_reason',
  label: 'Reason',
  hint: 'The pull requests that it holds can merge again. The audit log keeps who deleted the freeze and why.',
  attributes: html`required maxlength="10000"`,
});

/** The fields of a freeze in a form. A freeze that has begun has no start fields. */
export function fieldsOf(freeze: FreezeRecord, state: FreezeState): Record<string, string> {
  return {
    reason: freeze.reason,
    public_reason: freeze.publicReason ?? '',
    ...(state === 'scheduled' && { start: fieldTime(freeze.start), timezone: freeze.timezone }),
    end: fieldTime(freeze.end),
    matching_conditions: toLines(freeze.matchingConditions),
    exclude_conditions: toLines(freeze.excludeConditions),
  };
}

function editForm(
  action: string,
  freeze: FreezeRecord,
  state: FreezeState,
  refused: RefusedForm | null,
): Html {
  const given = refused ? Object.fromEntries(refused.form) : fieldsOf(freeze, state);
  const field = (name: string, label: string, more: Partial<Field> = {}): Field => ({
    name,
    label,
    value: given[name] ?? '',
    problems: refused?.problems ?? noProblems,
    ...more,
  });
  const time = { attributes: html`step="any"` };
  const inZone = `Local time in ${freeze.timezone}.`;
  const perLine = 'One condition on each line, such as label=hotfix. All of them must match.';
  return html`<form class="card form" method="post" action="${action}">
    ${versionField(String(freeze.version))}
    ${textArea(field('reason', 'Reason', { attributes: html`required` }))}
    ${textArea(field('public_reason', 'Public reason', { hint: 'Statuses and public pages show this instead of the reason. Leave empty to show the reason.' }))}
    <div class="side-by-side">
      ${
        state === 'scheduled'
          ? html`${textField(field('start', 'Start', { ...time, hint: 'Leave empty to start now.' }), 'datetime-local')}
            ${textField(field('timezone', 'Time zone', { hint: 'For example, Europe/Paris.' }))}`
          : ''
      }
      ${textField(field('end', 'End', { ...time, hint: `${state === 'scheduled' ? '' : `${inZone} `}Leave empty for no end.` }), 'datetime-local')}
    </div>
    ${textArea(field('matching_conditions', 'Hold pull requests that match', { hint: `${perLine} Leave empty to hold every pull request.` }))}
    ${textArea(field('exclude_conditions', 'Exclude pull requests that match', { hint: perLine }))}
    <button type="submit">Save changes</button>
  </form>`;
}
