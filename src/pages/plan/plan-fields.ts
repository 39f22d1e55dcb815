import type { StoredPlan } from '../../plans/plan-store.ts';
import { attributesOfPlan } from '../../plans/plan.ts';
import {
  dayNames,
  everyWeek,
  fieldsOfRule,
  type RepetitionFields,
  ruleOfFields,
  type Unit,
  units,
} from '../../plans/repetition.ts';
import {
  fromLines,
  toLines,
  type Exceptions,
  exceptionsOf,
  excludeConditions,
  heldBody,
  type HeldFields,
  heldLabels,
  heldOf,
  linesOf,
  readExceptions,
  readHeld,
} from '../condition-fields.ts';
import { badField, digestOf, textOf } from '../form.ts';
import { shorten } from '../../events/event-words.ts';

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

/** The label of each field. */
export const labels: Record<keyof PlanFields, string> = {
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
  const text = (name: string) => textOf(form, name);
  const unit = text('unit');
  return {
    name: text('name'),
    reason: text('reason'),
    publicReason: text('public_reason'),
    include: form.has('include') ? text('include') : ticked,
    exclude: text('exclude'),
    start: text('start'),
    end: text('end'),
    zone: text('zone') || 'UTC',
    repeat: (['every', 'calendar'] as const).find((each) => each === text('repeat')) ?? 'once',
    every: text('every') || everyWeek.every,
    unit: Object.hasOwn(units, unit) ? (unit as Unit) : everyWeek.unit,
    days: dayNames.filter((day) => form.getAll('day').includes(day)),
    monthlyOn: text('monthly_on') === 'weekday' ? 'weekday' : 'date',
    rule: text('rule'),
    source: text('source'),
    titles: text('titles'),
    until: text('until'),
    except: text('except'),
    matching: text('matching'),
    exceptions: readExceptions(form),
    ...readHeld(form),
  };
}

/** The form fields of a plan. */
export function fieldsOf(plan: StoredPlan): PlanFields {
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

/** The API body for a new plan. @throws Refusal invalid if the form says something that the API has no words for. */
export function planBody(fields: PlanFields) {
  return {
    name: fields.name || shorten(fields.reason, 80),
    reason: fields.reason,
    public_reason: fields.publicReason || null,
    repositories: { include: linesOf(fields.include), exclude: linesOf(fields.exclude) },
    ...timesOf(fields),
    timezone: fields.zone,
    matching_conditions: fromLines(fields.matching),
    exclude_conditions: excludeConditions(fields.exceptions),
    ...heldBody(fields),
  };
}

/** The times of a plan, or the calendar that it follows. */
function timesOf(fields: PlanFields) {
  const titles = linesOf(fields.titles);
  const source = { url: fields.source, titles: titles.length > 0 ? titles : null };
  return fields.repeat === 'calendar'
    ? { start: null, end: null, recurrence: null, source }
    : {
        start: fields.start || null,
        end: fields.end || null,
        recurrence: recurrenceOf(fields),
        source: null,
      };
}

function recurrenceOf({ repeat, rule: own, start, except, until, ...repetition }: PlanFields) {
  if (repeat === 'once') return null;
  const rule = own || ruleOfFields(repetition, start);
  if (rule === null) throw badField('every', 'Enter a whole number from 1 to 9999.');
  return { rule, except: except.split(/[\s,]+/).filter(Boolean), until: until || null };
}

/** What a template keeps of a plan. */
export const templateOf = ({ reason, end, exceptions, holds, environments, onDeployment }: PlanFields) => ({
  reason,
  ...{ holds, environments, onDeployment },
  duration: end === '' ? ('open' as const) : ('until' as const),
  exceptions,
});

/** Changes whenever the plan changes, so that a form knows whether it is up to date. */
export const versionOf = (plan: StoredPlan): string => digestOf(attributesOfPlan(plan, true));

/** The same for the ongoing freezes of a plan. */
export const versionOfOngoing = (freezes: { id: string; version: number }[]): string =>
  digestOf(freezes.map(({ id, version }) => [id, version]));
