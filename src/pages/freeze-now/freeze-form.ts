import { html } from 'hono/html';
import { Temporal } from 'temporal-polyfill';
import type { RepositoryState } from '../../explanations/repository-states.ts';
import { ownerFormPath, ownerPath } from '../../page-paths.ts';
import { isTimeZone, toLocalTime } from '../../time/local-time.ts';
import {
  exceptionFields,
  type Exceptions,
  type HeldFields,
  deploymentFields,
  heldLabels,
  linesOf,
  readExceptions,
  readHeld,
  whatField,
} from '../condition-fields.ts';
import {
  chips,
  type FormPreview,
  formProblem,
  type FormProblems,
  noProblems,
  option,
  previewBeforeDoing,
  textArea,
  textField,
  trimmedField,
} from '../form.ts';
import type { Html } from '../html.ts';
import { saveAsTemplate } from '../templates.ts';
import { meansAll, repositoryChooser } from './repository-chooser.ts';

/** The fields of the *Freeze now* form. */
export type FreezeNowFields = HeldFields & {
  /** `all`: every repository of the owner, including future ones. `ticked`: the selected ones. */
  which: 'all' | 'ticked';
  /** Names and patterns. */
  repositories: string[];
  reason: string;
  publicReason: string;
  duration: FreezeDuration;
  /** The end that was typed: `2026-12-24T18:00`. Counts if the duration is `until`. */
  until: string;
  zone: string;
  exceptions: Exceptions;
};

/** The label of each field. */
export const freezeLabels: Record<keyof FreezeNowFields, string> = {
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
export function readFreezeFields(form: URLSearchParams, fallback: FreezeNowFields['which']): FreezeNowFields {
  const repositories = [...new Set([...form.getAll('repository'), ...form.getAll('names').flatMap(linesOf)])];
  const which = form.has('which') || repositories.length > 0 ? 'ticked' : fallback;
  const duration = form.get('duration') ?? '';
  const zone = form.get('zone') ?? '';
  return {
    which: meansAll(form) ? 'all' : which,
    repositories,
    reason: trimmedField(form, 'reason'),
    publicReason: trimmedField(form, 'public_reason'),
    duration: isDuration(duration) ? duration : '2h',
    until: trimmedField(form, 'until'),
    zone: isTimeZone(zone) ? zone : 'UTC',
    exceptions: readExceptions(form),
    ...readHeld(form),
  };
}

/** How long a freeze that starts now lasts. */
export const freezeDurations = {
  '1h': '1 hour',
  '2h': '2 hours',
  '4h': '4 hours',
  morning: 'Until 08:00 the next morning',
  until: 'Until…',
  open: 'Until I remove it',
} as const;
export type FreezeDuration = keyof typeof freezeDurations;

const isDuration = (text: string): text is FreezeDuration => Object.hasOwn(freezeDurations, text);

/** The wall-clock end in a zone; null if it has no end. */
export function endOfForm(
  { duration, until, zone }: Pick<FreezeNowFields, 'duration' | 'until' | 'zone'>,
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
  fields: FreezeNowFields;
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
const shownFields = [
  ...['environments', 'repository', 'until', 'reason', 'exceptions', 'public_reason', 'zone'],
  'template_name',
];

/** Asks what to freeze, how long and why; then shows a preview with the button that freezes. */
export function freezeForm(form: FreezeForm): Html {
  const { login, fields, problems = noProblems, preview = null, templates = '' } = form;
  const { which, repositories: selected } = fields;
  return html`<h1>Freeze now</h1>
    ${templates} ${formProblem(problems, shownFields)}
    <form class="form two" method="post" action="${ownerFormPath(login, 'freeze')}" data-live>
      <div class="asks">
        ${whatField(fields, problems)} ${deploymentFields(fields, problems)}
        ${repositoryChooser({ ...form, which, selected, typed: 'names' }, problems)}
        ${chips(
          'radio',
          { name: 'duration', label: 'Duration', problems },
          Object.entries(freezeDurations).map(([value, label]) => ({ value, label })),
          [fields.duration],
        )}
        <div class="of-until">
          ${textField({ name: 'until', label: 'End', value: fields.until, problems, hint: 'In the time zone below.' }, 'datetime-local')}
        </div>
        ${textArea({ name: 'reason', label: 'Reason', value: fields.reason, problems, attributes: html`required maxlength="10000" ${preview ? '' : html`autofocus`}` })}
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
        ${form.maySaveTemplate ? saveAsTemplate(problems) : ''}
      </div>
      ${previewBeforeDoing(preview, 'freeze', ownerPath(login))}
    </form>`;
}
