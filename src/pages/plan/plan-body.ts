import { isDeepStrictEqual } from 'node:util';
import { validate } from '../../api/read-request.ts';
import { newPlan, readNewPlan } from '../../api/v1/plan-schemas.ts';
import { Refusal } from '../../errors.ts';
import { checkPlan } from '../../plans/check-plan.ts';
import { nameFromReasons } from '../../plans/plan-name.ts';
import type { StoredPlan } from '../../plans/plan-store.ts';
import { ruleOfFields } from '../../plans/repetition.ts';
import { conditionsBody, excludeConditions, fromLines, heldBody, linesOf } from '../condition-fields.ts';
import { badField } from '../form.ts';
import { monthsOf } from '../freeze-now/days-to-skip.ts';
import { datesIn, fieldsOfPlan, type PlanFields } from './plan-form.ts';

// What the form of a plan says, in the words of the API.

/** The API body for a new plan. @throws Refusal invalid if the form says something that the API has no words for. */
export function planBody(fields: PlanFields) {
  const publicReason = fields.publicReason || null;
  return {
    name: fields.name || nameFromReasons({ reason: fields.reason, publicReason }),
    reason: fields.reason,
    public_reason: publicReason,
    repositories: { include: linesOf(fields.include), exclude: linesOf(fields.exclude) },
    ...timesBody(fields),
    timezone: fields.zone,
    matching_conditions: conditionsBody(fields, fromLines(fields.matching)),
    exclude_conditions: conditionsBody(fields, excludeConditions(fields.exceptions)),
    ...heldBody(fields),
  };
}

/** The times of a plan, or the calendar that it follows. */
function timesBody(fields: PlanFields) {
  const { repeat, start, end, source: url } = fields;
  const titles = linesOf(fields.titles);
  return repeat === 'calendar'
    ? { start: null, end: null, recurrence: null, source: { url, titles: titles.length > 0 ? titles : null } }
    : { start: start || null, end: end || null, recurrence: recurrenceOf(fields), source: null };
}

function recurrenceOf({ repeat, rule: own, start, except, until, ...repetition }: PlanFields) {
  if (repeat === 'once') return null;
  const rule = own || ruleOfFields(repetition, start);
  if (rule === null) throw badField('every', 'Enter a whole number from 1 to 9999.');
  return { rule, except: datesIn(except), until: until || null };
}

/** The fields that differ from the plan. A value that only looks different is no change. */
export function changeOf(plan: StoredPlan, fields: PlanFields) {
  const [before, after] = [planBody(fieldsOfPlan(plan)), planBody(fields)];
  const isSameStart = after.start === before.start || `${after.start}:00` === before.start;
  const compared = ['recurrence', 'source', 'matching_conditions', 'exclude_conditions'] as const;
  const same = compared.filter((name) => isDeepStrictEqual(before[name], after[name]));
  const left = new Set<string>([...same, ...(isSameStart ? ['start'] : [])]);
  return Object.fromEntries(Object.entries(after).filter(([name]) => !left.has(name)));
}

/** The days on which the plan of a form begins; none while it does not say when. */
export function monthsIn(fields: PlanFields, now: Date): Map<string, string[]> {
  if (fields.repeat !== 'every') return new Map();
  const empty = { name: '-', reason: '-', matching: '', exceptions: { usual: [], lines: '' } };
  try {
    const body = planBody({ ...fields, ...empty, include: '*' });
    return monthsOf(checkPlan({ ...readNewPlan(validate(newPlan, body, 'body')), source: null }, now), now);
  } catch (error) {
    if (error instanceof Refusal) return new Map();
    throw error;
  }
}
