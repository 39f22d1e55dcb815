import { html } from 'hono/html';
import { Temporal } from 'temporal-polyfill';
import type { RepositoryState } from '../../explanations/repository-states.ts';
import { ownerFormPath, ownerPath } from '../../installations/page-paths.ts';
import { isTimeZone, toLocalTime } from '../../time/local-time.ts';
import {
  exceptionFields,
  type Exceptions,
  type HeldFields,
  heldFields,
  heldLabels,
  isHeldGiven,
  linesOf,
  readExceptions,
  readHeld,
} from '../condition-fields.ts';
import {
  chips,
  type FormPreview,
  formProblem,
  type FormProblems,
  hidden,
  noProblems,
  option,
  previewBeforeDoing,
  textArea,
  textField,
  textOf,
} from '../form.ts';
import type { Html } from '../layout.ts';
import { saveAsTemplate } from '../templates.ts';

/** The fields of the *Freeze now* form. */
export type FreezeFields = HeldFields & {
  /** `all`: every repository of the owner, including future ones. `ticked`: the selected ones. */
  which: 'all' | 'ticked';
  /** Names and patterns. */
  repositories: string[];
  reason: string;
  publicReason: string;
  duration: Duration;
  /** The end that was typed: `2026-12-24T18:00`. Counts if the duration is `until`. */
  until: string;
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
  until: 'End',
  zone: 'Time zone',
  exceptions: 'Exclude',
  ...heldLabels,
};

/** Reads the form, or the repositories in a URL. @param fallback the choice if neither names repositories. */
export function readFreezeFields(form: URLSearchParams, fallback: FreezeFields['which']): FreezeFields {
  const repositories = [...new Set([...form.getAll('repository'), ...linesOf(form.get('names') ?? '')])];
  const which = form.get('which') ?? (repositories.length > 0 ? 'ticked' : fallback);
  const duration = form.get('duration') ?? '';
  const zone = form.get('zone') ?? '';
  return {
    which: which === 'all' ? 'all' : 'ticked',
    repositories,
    reason: textOf(form, 'reason'),
    publicReason: textOf(form, 'public_reason'),
    duration: isDuration(duration) ? duration : '2h',
    until: textOf(form, 'until'),
    zone: isTimeZone(zone) ? zone : 'UTC',
    exceptions: readExceptions(form),
    ...readHeld(form),
  };
}

/** How long a freeze that starts now lasts. */
export const durations = {
  '1h': '1 hour',
  '2h': '2 hours',
  '4h': '4 hours',
  morning: 'Until 08:00 the next morning',
  until: 'Until…',
  open: 'Until I remove it',
} as const;
export type Duration = keyof typeof durations;

const isDuration = (text: string): text is Duration => Object.hasOwn(durations, text);

/** The wall-clock end in a zone; null if it has no end. */
export function endOf(
  { duration, until, zone }: Pick<FreezeFields, 'duration' | 'until' | 'zone'>,
  now: Date,
): string | null {
  if (duration === 'open') return null;
  if (duration === 'until') return until;
  // The others begin with their hours. They end at a full minute, as in commands.
  if (duration !== 'morning') {
    const minutes = Math.ceil(now.getTime() / 60_000) + Number.parseInt(duration) * 60;
    return toLocalTime(new Date(minutes * 60_000), zone);
  }
  const [date, time] = toLocalTime(now, zone).split('T') as [string, string];
  // At night, the next morning is today's.
  return `${Temporal.PlainDate.from(date).add({ days: time < '08:00' ? 0 : 1 })}T08:00:00`;
}

export type FreezeForm = {
  login: string;
  fields: FreezeFields;
  repositories: RepositoryState[];
  /** Whether the viewer may freeze every repository of the owner. */
  mayAll: boolean;
  /** A part of the names of the repositories to list, or empty. */
  filter: string;
  problems?: FormProblems;
  preview?: FormPreview;
  /** Links to the templates. */
  templates?: Html | '';
  maySaveTemplate: boolean;
};

/** The fields that the form shows, from top to bottom. */
const shown = [
  ...['repository', 'reason', 'until', 'public_reason', 'exceptions', 'zone', 'template_name'],
  'environments',
];

/** Asks what to freeze, how long and why; then shows a preview with the button that freezes. */
export function freezeForm(form: FreezeForm): Html {
  const { login, fields, problems = noProblems, preview = null, templates = '' } = form;
  return html`<h1>Freeze now</h1>
    ${templates} ${formProblem(problems, shown)}
    <form class="form" method="post" action="${ownerFormPath(login, 'freeze')}">
      ${textArea({ name: 'reason', label: 'Reason', value: fields.reason, problems, attributes: html`required maxlength="10000" ${preview ? '' : html`autofocus`}` })}
      ${chips(
        'radio',
        { name: 'duration', label: 'Duration', problems },
        Object.entries(durations).map(([value, label]) => ({ value, label })),
        [fields.duration],
      )}
      <div class="of-until">
        ${textField({ name: 'until', label: 'End', value: fields.until, problems, hint: 'In the time zone below.' }, 'datetime-local')}
      </div>
      ${repositoryChooser(form, problems)} ${exceptionFields(fields.exceptions, problems)}
      <details
        ${fields.publicReason || isHeldGiven(fields) || problems.has('environments') ? html`open` : ''}
      >
        <summary>Deployments, public reason, time zone</summary>
        ${heldFields(fields, problems)}
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
      ${form.maySaveTemplate ? saveAsTemplate(problems) : ''}
      ${previewBeforeDoing(preview, 'freeze', ownerPath(login))}
    </form>`;
}

/** How many of the repositories that match the filter have a box, and how many of the selected ones. */
const mostListed = 100;
/** So many repositories are seen at a glance, without a filter. */
const mostAtAGlance = 12;

/**
 * Asks which repositories to freeze: all, or those with a tick, and names and patterns that are typed. What is selected
 * and has no box is typed, so that a list of any length stays short and nothing is lost when it is filtered.
 */
function repositoryChooser(
  { fields, repositories, filter, mayAll }: FreezeForm,
  problems: FormProblems,
): Html {
  const { which, repositories: selected } = fields;
  const keys = new Set(selected.map((name) => name.toLowerCase()));
  const isSelected = ({ name }: RepositoryState) => keys.has(name.toLowerCase());
  const ticked = repositories.filter(isSelected).slice(0, mostListed);
  const matching = repositories.filter(
    (each) => !isSelected(each) && each.name.toLowerCase().includes(filter.toLowerCase()),
  );
  const boxed = new Set(ticked.map(({ name }) => name.toLowerCase()));
  const typed = selected.filter((name) => !boxed.has(name.toLowerCase()));
  const more = matching.length - mostListed;
  const count =
    selected.length === 0 ? 'Choose repositories' : `${selected.length} of ${repositories.length} selected`;
  return html`${
      mayAll
        ? chips(
            'radio',
            { name: 'which', label: 'Repositories', problems },
            [
              { value: 'all', label: `All ${repositories.length}` },
              { value: 'ticked', label: 'Selected repositories' },
            ],
            [which],
          )
        : hidden('which', 'ticked')
    }
    <details ${which === 'ticked' || problems.has('repository') ? html`open` : ''}>
      <summary>${count}</summary>
      ${problems.has('repository') ? html`<p class="problem"><strong>${problems.get('repository')}</strong></p>` : ''}
      ${repositories.length > mostAtAGlance ? filterField(filter, mayAll) : ''}
      <fieldset class="ticks">
        <legend class="said">Repositories to freeze</legend>
        ${ticked.map((each) => box(each, true))}
        ${matching.slice(0, mostListed).map((each) => box(each, false))}
      </fieldset>
      ${more > 0 ? html`<p class="muted">and ${more.toLocaleString('en')} more: filter</p>` : ''}
      <details ${typed.length > 0 ? html`open` : ''}>
        <summary>Names and patterns</summary>
        ${textArea({
          name: 'names',
          label: 'Names and patterns',
          value: typed.join('\n'),
          hint: html`One on each line, such as <code>api-*</code>. They are frozen beside those with a tick.`,
          attributes: html`spellcheck="false" autocapitalize="none"`,
        })}
      </details>
    </details>`;
}

/** Shows the form again, with what is filled in. Only a person who may freeze all can send it without a repository. */
const filterField = (filter: string, mayAll: boolean): Html =>
  html`<div class="find">
    ${textField({ name: 'filter', label: 'Filter', value: filter, attributes: html`spellcheck="false" autocapitalize="none"` })}
    <button
      type="submit"
      name="step"
      value="show"
      class="quiet"
      formnovalidate
      ${mayAll ? '' : html`formmethod="get"`}
    >
      Show
    </button>
  </div>`;

const box = ({ name, isFreezable }: RepositoryState, isTicked: boolean): Html =>
  html`<label
    ><input
      type="checkbox"
      name="repository"
      value="${name}"
      ${isTicked ? html`checked` : ''}
      ${isFreezable ? '' : html`disabled`}
    />${name}${isFreezable ? '' : ' (freezes are switched off)'}</label
  >`;
