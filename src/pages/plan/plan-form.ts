import { html } from 'hono/html';
import {
  chips,
  formProblem,
  type FormProblems,
  textArea,
  textField,
  versionField,
  type FormPreview,
  previewBeforeDoing,
} from '../form.ts';
import { exceptionFields, heldFields, isHeldGiven } from '../condition-fields.ts';
import type { Html } from '../layout.ts';
import { dayNames, type Unit, units, weekDays } from '../../plans/repetition.ts';
import { saveAsTemplate } from '../templates.ts';
import type { PlanFields } from './plan-fields.ts';

export type PlanForm = {
  heading: string;
  /** Where the form is sent, and where Cancel leads. */
  action: string;
  back: string;
  fields: PlanFields;
  problems: FormProblems;
  isNew: boolean;
  /** The current version of the plan that the form changes; null for a new plan. */
  version: string | null;
  preview: FormPreview;
  /** Links to the templates, or nothing. */
  templates: Html | '';
  /** Whether the viewer may save a template. */
  maySaveTemplate: boolean;
};

const shown = [
  ...['name', 'reason', 'public_reason', 'include', 'exclude', 'start', 'end', 'zone', 'every', 'until'],
  ...['source', 'titles'],
  ...['except', 'rule', 'matching', 'exceptions', 'environments', 'template_name'],
];

/** Asks for the fields of a plan; then shows a preview with the button that saves. */
export function planForm({
  heading,
  action,
  back,
  fields,
  problems,
  isNew,
  version,
  preview,
  templates,
  maySaveTemplate,
}: PlanForm): Html {
  const text = fieldOf(fields, problems);
  return html`<h1>${heading}</h1>
    ${templates} ${formProblem(problems, shown)}
    <form class="form" method="post" action="${action}">
      ${version === null ? '' : versionField(version)}
      ${textField(text('name', 'Name', { hint: 'Leave empty to use the reason.', attributes: html`maxlength="255"` }))}
      ${textArea(text('reason', 'Reason', { attributes: html`required maxlength="10000"` }))}
      <div class="side-by-side">
        ${textArea(text('include', 'Repositories', { hint: html`One name or pattern on each line, such as <code>api-*</code>. <code>*</code> matches every repository.`, attributes: html`required spellcheck="false" autocapitalize="none"` }))}
        ${textArea(text('exclude', 'Excluded repositories', { attributes: html`spellcheck="false" autocapitalize="none"` }))}
      </div>
      <div class="side-by-side">
        ${textField(text('start', 'Start', { hint: 'Leave empty to start now.' }), 'datetime-local')}
        ${textField(text('end', 'End', { hint: 'Leave empty for no end.' }), 'datetime-local')}
        ${textField(text('zone', 'Time zone', { hint: 'For example, Europe/Paris.', attributes: html`required list="zones" spellcheck="false" autocapitalize="none" ${isNew && !preview && problems.size === 0 ? html`data-chooses-own-zone` : ''}` }))}
        ${zones}
      </div>
      ${repetitionFields(fields, problems)} ${exceptionFields(fields.exceptions, problems)}
      <details ${isMore(fields, problems) ? html`open` : ''}>
        <summary>Conditions, deployments, public reason</summary>
        ${textArea(text('matching', 'Block pull requests that match', { hint: html`One condition on each line, such as <code>base=main</code>. All of them must match.`, attributes: html`spellcheck="false"` }))}
        ${textField({ name: 'public_reason', label: 'Public reason', value: fields.publicReason, problems, hint: 'Statuses and public pages show this instead of the reason.' })}
        ${heldFields(fields, problems)}
      </details>
      ${maySaveTemplate ? saveAsTemplate(problems) : ''} ${previewBeforeDoing(preview, 'save', back)}
    </form>`;
}

/** Makes a field of the form. */
const fieldOf =
  (fields: PlanFields, problems: FormProblems) =>
  (name: keyof PlanFields & string, label: string, more: object = {}) => ({
    ...{ name, label, value: String(fields[name]), problems },
    ...more,
  });

/** How the plan repeats. The style sheet hides what the choices don't need. */
function repetitionFields(fields: PlanFields, problems: FormProblems): Html {
  const text = fieldOf(fields, problems);
  const often = [
    { value: 'once', label: 'Does not repeat' },
    { value: 'every', label: 'Repeats' },
    { value: 'calendar', label: 'Follows a calendar' },
  ];
  const monthly = [
    { value: 'date', label: 'On the date of the start' },
    { value: 'weekday', label: 'On its weekday, such as the third Friday' },
  ];
  const days = dayNames.map((value) => ({ value, label: weekDays[value].slice(0, 3) }));
  return html`${chips('radio', { name: 'repeat', label: 'Repeats' }, often, [fields.repeat])}
    <div class="of-calendar">
      ${textField(text('source', 'Calendar', { hint: 'The address of an iCalendar file (.ics). Its events are the freezes, in the place of the start and the end above.', attributes: html`maxlength="2000" spellcheck="false" autocapitalize="none" inputmode="url"` }))}
      ${textArea(text('titles', 'Titles', { hint: html`One title or pattern on each line, such as <code>*freeze*</code>. Leave empty for all events.`, attributes: html`spellcheck="false" autocapitalize="none"` }))}
    </div>
    <div class="repetition">
      <div class="side-by-side">
        ${textField(text('every', 'Every', { attributes: html`inputmode="numeric" maxlength="4"` }))}
        ${chips(
          'radio',
          { name: 'unit', label: 'Unit' },
          (Object.keys(units) as Unit[]).map((value) => ({ value, label: `${value}s` })),
          [fields.unit],
        )}
      </div>
      <div class="of-weeks">
        ${chips('checkbox', { name: 'day', label: 'On', hint: 'Choose none for the day of the start.' }, days, fields.days)}
      </div>
      <div class="of-months">
        ${chips('radio', { name: 'monthly_on', label: 'Each month' }, monthly, [fields.monthlyOn])}
      </div>
      <div class="side-by-side">
        ${textField(text('until', 'Last date', { hint: 'No freeze starts after this date.' }), 'date')}
        ${textArea(text('except', 'Skipped dates', { hint: html`Dates on which a freeze would start, on lines or with commas, such as <code>2028-12-24</code>.` }))}
      </div>
      <details ${fields.rule || problems.has('rule') ? html`open` : ''}>
        <summary>Custom rule</summary>
        ${textField(text('rule', 'Custom rule', { hint: html`An RRULE, such as <code>FREQ=MONTHLY;BYDAY=-1FR</code>. If you fill it in, Holdfast uses it instead of the choices above.`, attributes: html`maxlength="1000" spellcheck="false"` }))}
      </details>
    </div>`;
}

/** Whether a folded field has a value or an error. */
const isMore = (fields: PlanFields, problems: FormProblems): boolean =>
  [fields.matching, fields.publicReason].some((text) => text !== '') ||
  isHeldGiven(fields) ||
  ['matching', 'public_reason', 'environments'].some((name) => problems.has(name));

const zones = html`<datalist id="zones">
  ${Intl.supportedValuesOf('timeZone').map((zone) => html`<option value="${zone}"></option>`)}
</datalist>`;
