import { isDate } from '../../plans/check-plan.ts';
import type { StoredPlan } from '../../plans/plan-store.ts';
import { attributesOfPlan } from '../../plans/plan.ts';
import { type Repetition, ruleOf as ruleOfRepetition, type Unit } from '../../plans/repetition.ts';
import {
  fromLines,
  toLines,
  type Exceptions,
  exceptionsOf,
  excludeConditions,
  linesOf,
  readExceptions,
} from '../condition-fields.ts';
import { digestOf } from '../form.ts';

/** The fields of a plan form, as the text that people typed. */
export type PlanFields = {
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
  repeat: Repeat;
  rule: string;
  /** The last date, and the dates on which no occurrence begins, one on each line. */
  until: string;
  except: string;
  /** Conditions that must all match, one on each line. */
  matching: string;
  exceptions: Exceptions;
  holds: WhatIsHeld;
  /** Globs of environment names, one on each line; empty for all environments. */
  environments: string;
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
  rule: 'Custom rule',
  until: 'Last date',
  except: 'Skipped dates',
  matching: 'Conditions',
  exceptions: 'Exclude',
  holds: 'Holds',
  environments: 'Environments',
};

/** What a plan holds, as people choose it. */
export const held = {
  merges: 'Merges',
  deployments: 'Deployments',
  both: 'Merges and deployments',
} as const;
type WhatIsHeld = keyof typeof held;

/** Reads the form, or the repositories in a URL. */
export function readPlanFields(form: URLSearchParams, ticked: string): PlanFields {
  const text = (name: string) => (form.get(name) ?? '').trim();
  const repeat = text('repeat');
  return {
    name: text('name'),
    reason: text('reason'),
    publicReason: text('public_reason'),
    include: form.has('include') ? text('include') : ticked,
    exclude: text('exclude'),
    start: text('start'),
    end: text('end'),
    zone: text('zone') || 'UTC',
    repeat: isRepeat(repeat) ? repeat : 'once',
    rule: text('rule'),
    until: text('until'),
    except: text('except'),
    matching: text('matching'),
    exceptions: readExceptions(form),
    holds: Object.hasOwn(held, text('holds')) ? (text('holds') as WhatIsHeld) : 'merges',
    environments: text('environments'),
  };
}

/** The form fields of a plan. */
export function fieldsOf(plan: StoredPlan): PlanFields {
  const { repositories, recurrence } = plan;
  const repeat = repeatOf(recurrence?.rule ?? null, plan.start);
  return {
    name: plan.name,
    reason: plan.reason,
    publicReason: plan.publicReason ?? '',
    include: repositories.include.join('\n'),
    exclude: repositories.exclude.join('\n'),
    start: plan.start,
    end: plan.end ?? '',
    zone: plan.timezone,
    repeat,
    rule: recurrence?.rule ?? '',
    until: recurrence?.until ?? '',
    except: recurrence?.except.join('\n') ?? '',
    matching: toLines(plan.matchingConditions),
    exceptions: exceptionsOf(plan.excludeConditions),
    holds: plan.holds.length > 1 ? 'both' : (plan.holds[0] ?? 'merges'),
    environments: plan.environments.join('\n') === '*' ? '' : plan.environments.join('\n'),
  };
}

/** The API body for a new plan. */
export function planBody(fields: PlanFields) {
  const rule = ruleOf(fields.repeat, fields.start, fields.rule);
  const environments = linesOf(fields.environments);
  return {
    name: fields.name,
    reason: fields.reason,
    public_reason: fields.publicReason || null,
    repositories: { include: linesOf(fields.include), exclude: linesOf(fields.exclude) },
    start: fields.start || null,
    end: fields.end || null,
    timezone: fields.zone,
    recurrence: rule === null ? null : { rule, except: linesOf(fields.except), until: fields.until || null },
    matching_conditions: fromLines(fields.matching),
    exclude_conditions: excludeConditions(fields.exceptions),
    holds: fields.holds === 'both' ? ['merges', 'deployments'] : [fields.holds],
    environments: environments.length > 0 ? environments : ['*'],
  };
}

/** Changes whenever the plan changes, so that a form knows whether it is up to date. */
export const versionOf = (plan: StoredPlan): string => digestOf(attributesOfPlan(plan));

/** The same for the ongoing freezes of a plan. */
export const versionOfOngoing = (freezes: { id: string; version: number }[]): string =>
  digestOf(freezes.map(({ id, version }) => [id, version]));

/** The choices for how a plan repeats. The rule takes its day from the start. */
export const repeats = {
  once: 'Once',
  daily: 'Every day',
  workdays: 'Monday to Friday',
  weekly: 'Every week',
  monthly: 'Every month on the same date',
  weekday: 'Every month on the same weekday',
  yearly: 'Every year',
  rule: 'Custom rule',
} as const;
type Repeat = keyof typeof repeats;

const isRepeat = (text: string): text is Repeat => Object.hasOwn(repeats, text);

const every = (unit: Unit, more: Partial<Repetition> = {}): Repetition => ({
  ...{ every: 1, unit, days: [], monthlyOn: 'date' },
  ...more,
});

const repetitions: Record<Exclude<Repeat, 'once' | 'rule'>, Repetition> = {
  daily: every('day'),
  workdays: every('week', { days: ['MO', 'TU', 'WE', 'TH', 'FR'] }),
  weekly: every('week'),
  monthly: every('month'),
  weekday: every('month', { monthlyOn: 'weekday' }),
  yearly: every('year'),
};

/**
 * The rule of a choice.
 * @param start of the first occurrence. If it is not a time, the first Monday of a month stands in for its day.
 * @param own the rule that was typed. @returns null if the plan does not repeat.
 */
export function ruleOf(repeat: Repeat, start: string, own: string): string | null {
  if (repeat === 'once') return null;
  if (repeat === 'rule') return own.trim();
  const date = start.slice(0, 10);
  return ruleOfRepetition(repetitions[repeat], isDate(date) ? date : firstMonday);
}

const firstMonday = '2026-06-01';

/** The choice that fits a stored rule. */
function repeatOf(rule: string | null, start: string): Repeat {
  const all = Object.keys(repeats) as Repeat[];
  return all.find((repeat) => repeat !== 'rule' && ruleOf(repeat, start, '') === rule) ?? 'rule';
}
