import { Temporal } from 'temporal-polyfill';
import { html } from 'hono/html';
import { isTimeZone, toLocalTime } from '../../time/local-time.ts';
import { shorten } from '../text.ts';
import { type Exceptions, excludeConditions, readExceptions, exceptionFields } from '../condition-fields.ts';
import { ownerFormPath, ownerPath } from '../../installations/page-paths.ts';
import { chips, formProblem, type FormProblems, hidden, textArea, textField, textOf } from '../form.ts';
import type { Html } from '../layout.ts';
import type { RepositoryState } from '../../explanations/repository-states.ts';
import { option } from '../repository/view.ts';
import { type FormPreview, previewBeforeDoing } from '../form-preview.ts';

/** The fields of the *Freeze now* form. */
export type FreezeFields = {
  /** `all`: every repository of the owner, including future ones. `ticked`: the selected ones. */
  which: 'all' | 'ticked';
  repositories: string[];
  reason: string;
  publicReason: string;
  duration: Duration;
  zone: string;
  exceptions: Exceptions;
};

/** The label of each field. */
export const labels: Record<keyof FreezeFields, string> = {
  which: 'Repositories',
  repositories: 'Repositories',
  reason: 'Reason',
  publicReason: 'Public reason',
  duration: 'Duration',
  zone: 'Time zone',
  exceptions: 'Exclude',
};

/** Reads the form, or the repositories in a URL. @param fallback the choice if neither names repositories. */
export function readFreezeFields(form: URLSearchParams, fallback: FreezeFields['which']): FreezeFields {
  const repositories = [...new Set(form.getAll('repository'))];
  const which = form.get('which') ?? (repositories.length > 0 ? 'ticked' : fallback);
  const duration = form.get('duration') ?? '';
  const zone = form.get('zone') ?? '';
  return {
    which: which === 'all' ? 'all' : 'ticked',
    repositories,
    reason: textOf(form, 'reason'),
    publicReason: textOf(form, 'public_reason'),
    duration: isDuration(duration) ? duration : '2h',
    zone: isTimeZone(zone) ? zone : 'UTC',
    exceptions: readExceptions(form),
  };
}

/** The fields that a freeze and a plan share in the API. */
const shared = (fields: FreezeFields, now: Date) => ({
  reason: fields.reason,
  public_reason: fields.publicReason || null,
  start: null,
  end: endOf(fields.duration, now, fields.zone),
  timezone: fields.zone,
  exclude_conditions: excludeConditions(fields.exceptions),
});

/** The API body for a new freeze. */
export const freezeBody = (fields: FreezeFields, now: Date) => ({ ...shared(fields, now) });

/** The API body for a new plan. */
export const planBody = (fields: FreezeFields, now: Date) => ({
  ...shared(fields, now),
  name: shorten(fields.reason, 80) || 'Freeze',
  repositories: { include: fields.which === 'all' ? ['*'] : fields.repositories },
});

/** How long a freeze that starts now lasts. */
export const durations = {
  '1h': '1 hour',
  '2h': '2 hours',
  tomorrow: 'Until tomorrow 08:00',
  open: 'Until I remove it',
} as const;
export type Duration = keyof typeof durations;

const isDuration = (text: string): text is Duration => Object.hasOwn(durations, text);

const minutes = { '1h': 60, '2h': 120 } as const;

/** The wall-clock end in a zone; null if it has no end. */
export function endOf(duration: Duration, now: Date, zone: string): string | null {
  if (duration === 'open') return null;
  if (duration !== 'tomorrow') return toLocalTime(new Date(now.getTime() + minutes[duration] * 60_000), zone);
  const today = Temporal.PlainDate.from(toLocalTime(now, zone).slice(0, 10));
  return `${today.add({ days: 1 })}T08:00:00`;
}

type FreezeForm = {
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
