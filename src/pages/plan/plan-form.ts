import { html } from 'hono/html';
import type { FreezeFields } from '../../freezes/freeze.ts';
import type { Plan } from '../../plans/plan.ts';
import {
  dayNames,
  everyWeek,
  fieldsOfRule,
  type RepetitionFields,
  type Unit,
  units,
  weekDays,
} from '../../plans/repetition.ts';
import {
  deploymentFields,
  exceptionFields,
  type Exceptions,
  exceptionsOf,
  type HeldFields,
  heldLabels,
  heldOf,
  linesOf,
  readExceptions,
  readHeld,
  toLines,
  whatField,
} from '../condition-fields.ts';
import {
  chips,
  type LabelledField,
  type FormPreview,
  formProblem,
  type FormProblems,
  noProblems,
  previewBeforeDoing,
  textArea,
  textField,
  trimmedField,
  versionField,
} from '../form.ts';
import type { Html } from '../html.ts';
import type { Crumb } from '../layout.ts';
import { daysToSkip } from '../freeze-now/days-to-skip.ts';
import { type Choice, meansAll, repositoryChooser } from '../freeze-now/repository-chooser.ts';
import { saveAsTemplate } from '../templates.ts';

/** The fields of a plan form, as the text that people typed. */
export type PlanFields = RepetitionFields &
  HeldFields & {
    /** Empty for the beginning of the reason. */
    name: string;
    reason: string;
    publicReason: string;
    /** Globs of repository names, one on each line. */
    include: string;
    exclude: string;
    /** `2026-12-24T18:00`. */
    start: string;
    end: string;
    zone: string;
    /** `every`: the plan repeats as the fields of `RepetitionFields` say, or as the rule does, if there is one. */
    /** `calendar`: it follows a calendar, and has no times of its own. */
    repeat: 'once' | 'every' | 'calendar';
    rule: string;
    /** The address of the calendar, and globs of titles, one on each line; none for all events. */
    source: string;
    titles: string;
    /** The last date, and the dates on which no occurrence begins, with lines, commas or spaces between them. */
    until: string;
    except: string;
    /** Conditions that must all match, one on each line. */
    matching: string;
    exceptions: Exceptions;
  };

/** The label of each field. Most have the same name in the form. */
export const planLabels: Record<keyof PlanFields, string> = {
  name: 'Name',
  reason: 'Reason',
  publicReason: 'Public reason',
  include: 'Repositories',
  exclude: 'Excluded repositories',
  start: 'Start',
  end: 'End',
  zone: 'Time zone',
  repeat: 'Repeats',
  every: 'Every',
  unit: 'Unit',
  days: 'Days',
  monthlyOn: 'Each month',
  rule: 'Custom rule',
  source: 'Calendar',
  titles: 'Titles',
  until: 'Last date',
  except: 'Skipped dates',
  matching: 'Conditions',
  exceptions: 'Exclude',
  ...heldLabels,
};

/** Reads the form, or the repositories in a URL. */
export function readPlanFields(form: URLSearchParams, ticked: string): PlanFields {
  const named = [...form.getAll('repository'), ...form.getAll('include').flatMap(linesOf)];
  const skipped = [...datesIn(form.get('except') ?? ''), ...form.getAll('off')];
  const all = Object.keys(planLabels).map((name) => [name, trimmedField(form, name)]);
  const given = Object.fromEntries(all) as Record<keyof PlanFields, string>;
  return {
    ...given,
    publicReason: trimmedField(form, 'public_reason'),
    include: meansAll(form) ? '*' : form.has('include') ? [...new Set(named)].join('\n') : ticked,
    except: form.has('off') ? [...new Set(skipped)].join('\n') : given.except,
    zone: given.zone || 'UTC',
    repeat: (['every', 'calendar'] as const).find((each) => each === given.repeat) ?? 'once',
    every: given.every || everyWeek.every,
    unit: Object.hasOwn(units, given.unit) ? (given.unit as Unit) : everyWeek.unit,
    days: dayNames.filter((day) => form.getAll('day').includes(day)),
    monthlyOn:
      (['weekday', 'last'] as const).find((each) => each === trimmedField(form, 'monthly_on')) ?? 'date',
    exceptions: readExceptions(form),
    ...readHeld(form),
  };
}

/** The dates in a text, with lines, commas or spaces between them. */
export const datesIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

type Filled = Pick<Plan, 'name' | 'repositories' | 'recurrence' | 'source'> & FreezeFields;

/** The form fields of a plan, or of a freeze that becomes one. */
export function fieldsOfPlan(plan: Filled): PlanFields {
  const { repositories, recurrence, source } = plan;
  const said = recurrence && fieldsOfRule(recurrence.rule, plan.start);
  return {
    ...(said ?? everyWeek),
    name: plan.name,
    reason: plan.reason,
    publicReason: plan.publicReason ?? '',
    include: repositories.include.join('\n'),
    exclude: repositories.exclude.join('\n'),
    start: source ? '' : plan.start,
    end: source ? '' : (plan.end ?? ''),
    zone: plan.timezone,
    repeat: source ? 'calendar' : recurrence ? 'every' : 'once',
    source: source?.url ?? '',
    titles: source?.titles?.join('\n') ?? '',
    rule: recurrence && !said ? recurrence.rule : '',
    until: recurrence?.until ?? '',
    except: recurrence?.except.join('\n') ?? '',
    matching: toLines(plan.matchingConditions),
    exceptions: exceptionsOf(plan.excludeConditions),
    ...heldOf(plan),
  };
}

export type PlanForm = {
  heading: string;
  crumbs: Crumb[];
  /** Where the form is sent, and where Cancel leads. */
  action: string;
  back: string;
  fields: PlanFields;
  /** The repositories to choose from, whether the viewer may freeze all, and a part of their names, or empty. */
  choice: Pick<Choice, 'repositories' | 'mayAll' | 'filter'>;
  /** The days on which it begins, by months, if it repeats. */
  months: ReadonlyMap<string, string[]>;
  /** The current version of the plan that the form changes; null for a new plan. */
  version: string | null;
  problems?: FormProblems;
  preview?: FormPreview;
  /** Links to the templates. */
  templates?: Html;
  /** Whether the viewer may save a template. */
  maySaveTemplate?: boolean;
};

const shownDate = [
  ...['environments', 'include', 'exclude', 'start', 'end', 'zone', 'source', 'titles', 'every', 'until'],
  ...['except', 'rule', 'reason', 'name', 'exceptions', 'matching', 'public_reason', 'template_name'],
];

/** Asks for the fields of a plan, beside its preview with the button that saves. */
export function planForm({
  heading,
  action,
  back,
  fields,
  choice,
  months,
  version,
  problems = noProblems,
  preview = null,
  templates,
  maySaveTemplate,
}: PlanForm): Html {
  const text = fieldOf(fields, problems);
  const skipped = datesIn(fields.except);
  const boxed = new Set([...months.values()].flat());
  const typed = boxed.size === 0 ? fields.except : skipped.filter((date) => !boxed.has(date)).join('\n');
  const which = fields.include === '*' ? 'all' : 'ticked';
  const selected = which === 'all' ? [] : linesOf(fields.include);
  const isNew = version === null;
  return html`<h1>${heading}</h1>
    ${templates ?? ''} ${formProblem(problems, shownDate)}
    <form class="form two" method="post" action="${action}" data-live>
      <div class="asks">
        ${isNew ? '' : versionField(version)} ${whatField(fields, problems, !preview)}
        ${deploymentFields(fields, problems)}
        ${repositoryChooser({ ...choice, which, selected, typed: 'include' }, problems)}
        <details ${fields.exclude || problems.has('exclude') ? html`open` : ''}>
          <summary>Excluded repositories</summary>
          ${textArea(text('exclude', { hint: 'One name or pattern on each line.', attributes: html`spellcheck="false" autocapitalize="none"` }))}
        </details>
        <div class="side-by-side of-times">
          ${textField(text('start', { hint: 'Leave empty to start now.' }), 'datetime-local')}
          ${textField(text('end', { hint: 'Leave empty for no end.' }), 'datetime-local')}
        </div>
        ${textField(text('zone', { hint: 'For example, Europe/Paris.', attributes: html`required list="zones" spellcheck="false" autocapitalize="none" ${isNew && !preview && problems.size === 0 ? html`data-chooses-own-zone` : ''}` }))}
        ${zones} ${repetitionFields({ ...fields, except: typed }, problems)}
        ${textArea(text('reason', { attributes: html`required maxlength="10000"` }))}
        ${textField(text('name', { hint: 'Leave empty to use the reason.', attributes: html`maxlength="255"` }))}
        ${exceptionFields(fields.exceptions, problems)}
        <details ${isMore(fields, problems) ? html`open` : ''}>
          <summary>Conditions, public reason</summary>
          <div class="of-merges">
            ${textArea(text('matching', { label: 'Block pull requests that match', hint: html`One condition on each line, such as <code>base=main</code>. All of them must match.`, attributes: html`spellcheck="false"` }))}
          </div>
          ${textField(text('publicReason', { name: 'public_reason', hint: 'Statuses and public pages show this instead of the reason.' }))}
        </details>
        ${maySaveTemplate ? saveAsTemplate(problems) : ''}
      </div>
      ${previewBeforeDoing(preview, 'save', back, daysToSkip(months, skipped))}
    </form>`;
}

/** Makes a field of the form. */
const fieldOf =
  (fields: PlanFields, problems: FormProblems) =>
  (name: keyof PlanFields, more: Partial<LabelledField> = {}): LabelledField => ({
    ...{ name, label: planLabels[name], value: String(fields[name]), problems },
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
    { value: 'last', label: 'On the last such weekday' },
  ];
  const days = dayNames.map((value) => ({ value, label: weekDays[value].slice(0, 3) }));
  return html`${chips('radio', { name: 'repeat', label: 'Repeats' }, often, [fields.repeat])}
    <div class="of-calendar">
      ${textField(text('source', { hint: 'The address of an iCalendar file (.ics). Its events are the freezes, in the place of the start and the end above.', attributes: html`maxlength="2000" spellcheck="false" autocapitalize="none" inputmode="url"` }))}
      ${textArea(text('titles', { hint: html`One title or pattern on each line, such as <code>*freeze*</code>. Leave empty for all events.`, attributes: html`spellcheck="false" autocapitalize="none"` }))}
    </div>
    <div class="repetition">
      <div class="side-by-side">
        ${textField(text('every', { attributes: html`inputmode="numeric" maxlength="4"` }))}
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
        ${textField(text('until', { hint: 'No freeze starts after this date.' }), 'date')}
        ${textArea(text('except', { hint: html`Dates on which a freeze would start, on lines or with commas, such as <code>2028-12-24</code>.` }))}
      </div>
      <details ${fields.rule || problems.has('rule') ? html`open` : ''}>
        <summary>Custom rule</summary>
        ${textField(text('rule', { hint: html`An RRULE, such as <code>FREQ=MONTHLY;BYDAY=-1FR</code>. If you fill it in, Holdfast uses it instead of the choices above.`, attributes: html`maxlength="1000" spellcheck="false"` }))}
      </details>
    </div>`;
}

/** Whether a folded field has a value or an error. */
const isMore = (fields: PlanFields, problems: FormProblems): boolean =>
  [fields.matching, fields.publicReason].some((text) => text !== '') ||
  ['matching', 'public_reason'].some((name) => problems.has(name));

const zones = html`<datalist id="zones">
  ${Intl.supportedValuesOf('timeZone').map((zone) => html`<option value="${zone}"></option>`)}
</datalist>`;
