import { html } from 'hono/html';
import { chips, formProblem, type FormProblems, textArea, textField, versionField } from '../form.ts';
import { type FormPreview, previewBeforeDoing } from '../form-preview.ts';
import { exceptionFields } from '../freeze-now/exceptions.ts';
import type { Html } from '../layout.ts';
import { held, type PlanFields } from './plan-fields.ts';
import { repeats } from './recurrence-choices.ts';

export type PlanForm = {
  heading: string;
  /** Where it is sent, and where one goes who does not want it. */
  action: string;
  back: string;
  fields: PlanFields;
  problems: FormProblems;
  isNew: boolean;
  /** Of the plan that it changes, as it is now; null for a new one. */
  version: string | null;
  preview: FormPreview;
};

const shown = [
  ...['name', 'reason', 'public_reason', 'include', 'exclude', 'start', 'end', 'zone', 'rule', 'until'],
  ...['except', 'matching', 'exceptions', 'environments'],
];

/** Asks for all of a plan; then shows what it would do, with the one button that does it. */
export function planForm({
  heading,
  action,
  back,
  fields,
  problems,
  isNew,
  version,
  preview,
}: PlanForm): Html {
  const text = (name: keyof PlanFields & string, label: string, more: object = {}) => ({
    name,
    label,
    value: String(fields[name]),
    problems,
    ...more,
  });
  return html`<h1>${heading}</h1>
    ${formProblem(problems, shown)}
    <form class="form" method="post" action="${action}#preview">
      ${version === null ? '' : versionField(version)}
      ${textField(text('name', 'Name', { attributes: html`required maxlength="255"` }))}
      ${textArea(text('reason', 'Why', { attributes: html`required maxlength="10000"` }))}
      <div class="side-by-side">
        ${textArea(text('include', 'Repositories', { hint: html`A name or a pattern on each line, such as <code>api-*</code>. <code>*</code> is every one.`, attributes: html`required spellcheck="false" autocapitalize="none"` }))}
        ${textArea(text('exclude', 'But not', { attributes: html`spellcheck="false" autocapitalize="none"` }))}
      </div>
      <div class="side-by-side">
        ${textField(text('start', 'Start', { hint: 'Empty: now' }), 'datetime-local')}
        ${textField(text('end', 'End', { hint: 'Empty: until you remove it' }), 'datetime-local')}
        ${textField(text('zone', 'Time zone', { hint: 'Such as Europe/Paris', attributes: html`required list="zones" spellcheck="false" autocapitalize="none" ${isNew && !preview && problems.size === 0 ? html`data-chooses-own-zone` : ''}` }))}
        ${zones}
      </div>
      ${chips(
        'radio',
        { name: 'repeat', label: 'Repeats', problems },
        Object.entries(repeats).map(([value, label]) => ({ value, label })),
        [fields.repeat],
      )}
      <details
        ${fields.repeat === 'rule' || fields.until || fields.except || ['rule', 'until', 'except'].some((name) => problems.has(name)) ? html`open` : ''}
      >
        <summary>Rule, last date, days off</summary>
        <div class="side-by-side">
          ${textField(text('rule', 'Rule of your own', { hint: html`An RRULE, such as <code>FREQ=MONTHLY;BYDAY=-1FR</code>. It counts where you choose “${repeats.rule}”.`, attributes: html`maxlength="1000" spellcheck="false"` }))}
          ${textField(text('until', 'Last date', { hint: 'None begins after it' }), 'date')}
          ${textArea(text('except', 'Not on', { hint: html`A date on each line, such as <code>2028-12-24</code>` }))}
        </div>
      </details>
      ${exceptionFields(fields.exceptions, problems)}
      <details ${isMore(fields, problems) ? html`open` : ''}>
        <summary>Only some pull requests, deployments, public reason</summary>
        ${textArea(text('matching', 'Only pull requests that match', { hint: html`A condition on each line, such as <code>base=main</code>. All of them have to match.`, attributes: html`spellcheck="false"` }))}
        ${textField({ name: 'public_reason', label: 'Public reason', value: fields.publicReason, problems, hint: 'Everybody but admins and insiders reads it in the place of the reason.' })}
        ${chips(
          'radio',
          { name: 'holds', label: 'Holds', problems },
          Object.entries(held).map(([value, label]) => ({ value, label })),
          [fields.holds],
        )}
        ${textArea(text('environments', 'Environments', { hint: html`For deployments: a name or a pattern on each line, such as <code>prod-*</code>. Empty: every one. Holdfast keeps this, and does not hold deployments yet.`, attributes: html`spellcheck="false" autocapitalize="none"` }))}
      </details>
      ${previewBeforeDoing(preview, 'save', back)}
    </form>`;
}

/** Whether the form says something of what is folded. */
const isMore = (fields: PlanFields, problems: FormProblems): boolean =>
  [fields.matching, fields.publicReason, fields.environments].some((text) => text !== '') ||
  fields.holds !== 'merges' ||
  ['matching', 'public_reason', 'environments'].some((name) => problems.has(name));

const zones = html`<datalist id="zones">
  ${Intl.supportedValuesOf('timeZone').map((zone) => html`<option value="${zone}"></option>`)}
</datalist>`;
