import { html } from 'hono/html';
import { ownerFormPath, ownerPath } from '../../installations/page-paths.ts';
import { chips, formProblem, type FormProblems, hidden, textArea, textField } from '../form.ts';
import type { Html } from '../layout.ts';
import type { RepositoryState } from '../owner/repository-states.ts';
import { option } from '../repository/zone-choice.ts';
import { type FormPreview, previewBeforeDoing } from '../form-preview.ts';
import { durations } from './duration.ts';
import { exceptionFields } from './exceptions.ts';
import type { FreezeFields } from './freeze-fields.ts';

export type FreezeForm = {
  login: string;
  fields: FreezeFields;
  repositories: RepositoryState[];
  /** Whether the viewer may freeze every repository of the owner. */
  mayAll: boolean;
  problems: FormProblems;
  preview: FormPreview;
};

/** Asks what to freeze, how long and why; then shows a preview with the button that freezes. */
export function freezeForm({ login, fields, repositories, mayAll, problems, preview }: FreezeForm): Html {
  const shown = ['repository', 'reason', 'public_reason', 'exceptions', 'zone'];
  return html`<h1>Freeze now</h1>
    ${formProblem(problems, shown)}
    <form class="form" method="post" action="${ownerFormPath(login, 'freeze')}">
      ${textArea({ name: 'reason', label: 'Reason', value: fields.reason, problems, attributes: html`required maxlength="10000"` })}
      ${chips(
        'radio',
        { name: 'duration', label: 'Duration', problems },
        Object.entries(durations).map(([value, label]) => ({ value, label })),
        [fields.duration],
      )}
      ${whichRepositories(fields, repositories, mayAll, problems)}
      ${exceptionFields(fields.exceptions, problems)}
      <details ${fields.publicReason ? html`open` : ''}>
        <summary>Public reason, time zone</summary>
        ${textField({
          name: 'public_reason',
          label: 'Public reason',
          value: fields.publicReason,
          hint: 'Statuses and public pages show this instead of the reason.',
          problems,
          attributes: html`maxlength="10000"`,
        })}
        <div class="field">
          <label for="zone">Time zone</label>
          <select
            id="zone"
            name="zone"
            data-offers-own-zone
            ${preview || problems.size > 0 ? '' : html`data-chooses-own-zone`}
          >
            ${[...new Set(['UTC', fields.zone])].map((zone) => option(zone, zone, zone === fields.zone))}
          </select>
        </div>
      </details>
      ${previewBeforeDoing(preview, 'freeze', ownerPath(login))}
    </form>`;
}

function whichRepositories(
  { which, repositories: ticked }: FreezeFields,
  all: RepositoryState[],
  mayAll: boolean,
  problems: FormProblems,
): Html {
  const choices = all.filter(({ archived }) => !archived);
  const box = ({ name, isFreezable }: RepositoryState) =>
    html`<label
      ><input
        type="checkbox"
        name="repository"
        value="${name}"
        ${ticked.includes(name) ? html`checked` : ''}
        ${isFreezable ? '' : html`disabled`}
      />${name}${isFreezable ? '' : ' (freezes are switched off)'}</label
    >`;
  const count =
    ticked.length === 0 ? 'Choose repositories' : `${ticked.length} of ${choices.length} selected`;
  return html`${
      mayAll
        ? chips(
            'radio',
            { name: 'which', label: 'Repositories', problems },
            [
              { value: 'all', label: `All ${choices.length}` },
              { value: 'ticked', label: 'Selected repositories' },
            ],
            [which],
          )
        : hidden('which', 'ticked')
    }
    <details
      ${(which === 'ticked' || problems.has('repository')) && choices.length <= mostOpen ? html`open` : ''}
    >
      <summary>${count}</summary>
      ${problems.has('repository') ? html`<p class="problem"><strong>${problems.get('repository')}</strong></p>` : ''}
      <fieldset class="ticks">
        <legend class="said">Repositories to freeze</legend>
        ${choices.map(box)}
      </fieldset>
    </details>`;
}

/** A longer list starts folded. */
const mostOpen = 60;
