import { z } from '@hono/zod-openapi';
import type { FreezeFields, Unvalidated } from '../../freezes/freeze.ts';
import type { PlanChange } from '../../plans/change-plan.ts';
import type { Occurrence } from '../../plans/occurrences.ts';
import { attributesOfPlan, inOrderOfPlan, type PlanInput, type SourceInput } from '../../plans/plan.ts';
import type { SavedPlan, ShownPlan } from '../../plans/show-plan.ts';
import { fieldsOfSchema, unknownFields } from '../answers.ts';
import { checkGlob, owner, textSchema, uuid, who } from '../fields.ts';
import {
  answeredFields,
  changedFields,
  localTime,
  newFields,
  readFields,
  readFreezeChange as readChange,
} from './freeze-schemas.ts';

const mostGlobs = 1000;
const mostExceptions = 1000;
const globs = (what: string) =>
  z
    .array(z.string().superRefine(checkGlob))
    .max(mostGlobs)
    .openapi({ description: `Globs (\`*\`, \`?\`, \`[abc]\`, \`{a,b}\`) of ${what}` });

const include = globs('repository names that the plan freezes').min(1);
const excluded = globs('repository names that the plan excludes');
const date = z.string().openapi({ format: 'date', example: '2099-12-24' });
const rule = z
  .string()
  .openapi({ description: 'RFC 5545: an RRULE without DTSTART, UNTIL and WKST', maxLength: 1000 });

const recurrence = z
  .looseObject({
    rule,
    except: z.array(date).max(mostExceptions).optional(),
    until: date.nullish().openapi({ description: 'The last date on which an occurrence may begin' }),
  })
  .openapi('Recurrence');

const mostTitles = 50;
/** Calendar apps write `webcal:` for the address of a file that they should subscribe to. */
const asHttps = (url: string): string => url.trim().replace(/^webcal:/i, 'https:');

const source = z
  .looseObject({
    url: textSchema(2000, 'An address').refine(
      (url) => /^https?:$/.test(URL.parse(asHttps(url))?.protocol ?? ''),
      'Send the address of an iCalendar file, such as https://example.com/holidays.ics.',
    ),
    titles: z
      .array(z.string().superRefine(checkGlob))
      .min(1, 'Send at least one title, or null for all events.')
      .max(mostTitles)
      .openapi({
        description: 'Globs over the titles of events, in any case of letters; null or absent: all events',
      })
      .nullish(),
  })
  .openapi('PlanSource', {
    description:
      'A calendar whose events are the occurrences, in the place of `start`, `end` and `recurrence`',
  });

const name = textSchema(255, 'A name').min(1, 'A name has at least 1 character.');

const startSays = 'Wall-clock time in `timezone`. If null, the plan starts now. Required without `source`';

/** A plan has times of its own, or follows a calendar. */
function checkTimes(body: unknown, context: z.RefinementCtx): void {
  const { source, ...sent } = { ...(body as Record<string, unknown> | null) };
  if (!source) {
    if (sent['start'] === undefined)
      context.addIssue({ code: 'custom', path: ['start'], message: 'Field required', input: undefined });
    return;
  }
  for (const field of ['start', 'end', 'recurrence'])
    if (sent[field] !== undefined && sent[field] !== null)
      context.addIssue({
        code: 'custom',
        path: [field],
        message: `A plan with a \`source\` has the times of its calendar. Leave out \`${field}\`, or \`source\`.`,
      });
}

/** Accepts unknown fields, which the answer names. */
export const newPlan = z
  .looseObject(
    inOrderOfPlan(
      {
        name,
        repositories: z.looseObject({ include, exclude: excluded.optional() }),
        recurrence: recurrence
          .nullish()
          .openapi({ description: 'If null or absent, the plan does not repeat' }),
      },
      newFields('plan'),
    ),
  )
  .extend({ start: localTime.nullish().openapi({ description: startSays }), source: source.nullish() })
  .superRefine(checkTimes, { when: () => true })
  .openapi('NewFreezePlan');

export const planChangeSchema = z
  .looseObject(
    inOrderOfPlan(
      {
        name: name.nullish(),
        repositories: z.looseObject({ include: include.optional(), exclude: excluded.optional() }).nullish(),
        recurrence: recurrence.nullish().openapi({ description: 'If null, the plan does not repeat' }),
      },
      changedFields,
    ),
  )
  .extend({ source: source.nullish() })
  .openapi('FreezePlanChange');

const readRecurrence = ({ rule, except = [], until = null }: z.output<typeof recurrence>) => ({
  rule,
  except,
  until,
});

const readSource = ({ url, titles = null }: z.output<typeof source>): SourceInput => ({
  url: asHttps(url),
  titles,
});

/** Fills in the defaults of absent fields. */
export const readNewPlan = (body: z.output<typeof newPlan>): PlanInput => ({
  ...readFields<Unvalidated<Required<FreezeFields>>>(body, ({ byDefault }) => byDefault),
  name: body.name,
  repositories: { include: body.repositories.include, exclude: body.repositories.exclude ?? [] },
  recurrence: body.recurrence ? readRecurrence(body.recurrence) : null,
  source: body.source ? readSource(body.source) : null,
});

export const readPlanChange = (body: z.output<typeof planChangeSchema>): PlanChange => ({
  ...readChange(body),
  name: body.name ?? undefined,
  repositories: body.repositories ?? undefined,
  recurrence: body.recurrence && readRecurrence(body.recurrence),
  source: body.source && readSource(body.source),
});

const occurrence = z.object({
  start: localTime,
  end: localTime.nullable(),
  starts_at: z.iso.datetime(),
  ends_at: z.iso.datetime().nullable(),
});
export const occurrences = z
  .array(occurrence)
  .openapi({ description: 'Up to 10 occurrences that are not over, the ongoing one first' });
export const notEnforcedSchema = z
  .array(z.string())
  .openapi({ description: 'Repositories where freezes do not hold, as `owner/name`' });

/** Absent if there is none. */
export const archivedField = {
  archived: z.array(z.string()).min(1).optional().openapi({
    description:
      'Archived repositories, by name. They are skipped, and counted nowhere. Absent if there are none',
  }),
};

export const presentArchived = (names: string[]) => names.length > 0 && { archived: names };

const planFields = {
  id: z.uuid(),
  ...inOrderOfPlan(
    {
      name: z.string(),
      repositories: z.object({ include: z.array(z.string()), exclude: z.array(z.string()) }),
      recurrence: z.object({ rule: z.string(), except: z.array(date), until: date.nullable() }).nullable(),
    },
    answeredFields,
  ),
  start: localTime.nullable().openapi({ description: 'Null if the plan follows a calendar' }),
  source: z
    .object({ url: z.string(), titles: z.array(z.string()).nullable() })
    .optional()
    .openapi({
      description: 'Absent if the plan follows no calendar. Who may not change the plan sees its host only',
    }),
  source_state: z
    .object({ read_at: z.iso.datetime(), error: z.string().nullable() })
    .optional()
    .openapi({ description: 'When the calendar was last read, and why it cannot be read since' }),
  repositories_matched: z.int(),
  not_enforced: notEnforcedSchema,
  ...archivedField,
  next_occurrences: occurrences,
  detached: z.array(z.object({ repository: z.string(), freeze_id: z.uuid(), start: localTime })).openapi({
    description:
      'Freezes of the plan that somebody changed or deleted separately. The plan no longer changes them',
  }),
  created_by: who,
  created_at: z.iso.datetime(),
};

export const planSchema = z.object(planFields).openapi('FreezePlan');

export const planWarnings = z.array(z.string()).min(1).optional().openapi({
  description: 'What looks like a mistake, in sentences. Absent if there is nothing',
});

export const savedPlanSchema = z.object({ ...planFields, warnings: planWarnings }).openapi('SavedFreezePlan');

export const exampleNewPlan = {
  name: 'Year end',
  reason: 'Books are closed',
  repositories: { include: ['*'], exclude: ['sandbox-*'] },
  start: '2099-12-24T18:00:00',
  end: '2100-01-02T08:00:00',
  timezone: 'Europe/Paris',
  recurrence: { rule: 'FREQ=YEARLY', except: ['2101-12-24'], until: null },
  matching_conditions: ['base=main'],
  exclude_conditions: ['label=hotfix'],
};

export const exampleOccurrences = [
  {
    start: '2099-12-24T18:00:00',
    end: '2100-01-02T08:00:00',
    starts_at: '2099-12-24T17:00:00.000Z',
    ends_at: '2100-01-02T07:00:00.000Z',
  },
];

export const examplePlan = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  ...exampleNewPlan,
  public_reason: null,
  holds: ['merges'],
  environments: ['*'],
  on_deployment: 'wait',
  repositories_matched: 41,
  not_enforced: ['acme/attic'],
  next_occurrences: exampleOccurrences,
  detached: [],
  created_by: { type: 'user', id: 1, name: 'ada' },
  created_at: '2026-03-01T09:00:00.000Z',
};

export const planParams = z.object({ owner, plan_id: uuid('plan_id') });

export const presentOccurrence = (each: Occurrence) => fieldsOfSchema(occurrence, each);

/** @param showsUrl whether the address of the calendar that it follows is shown: to people who may change the plan. */
export const presentPlan = (
  { plan, matched, notEnforced, archived, nextOccurrences, detached }: ShownPlan,
  showsUrl: boolean,
) => ({
  id: plan.id,
  ...attributesOfPlan(plan, showsUrl),
  ...(plan.source && { source_state: { read_at: plan.source.readAt, error: plan.source.error } }),
  repositories_matched: matched,
  not_enforced: notEnforced,
  ...presentArchived(archived),
  next_occurrences: nextOccurrences.map(presentOccurrence),
  detached: detached.map(({ repository, freezeId, start }) => ({ repository, freeze_id: freezeId, start })),
  created_by: plan.createdBy,
  created_at: plan.createdAt.toISOString(),
});

export const namesOf = ({ shape }: z.ZodObject): string[] => Object.keys(shape);

/** Names the unknown fields of a body, including nested ones, in sentences. */
const unknownIn = (sent: z.output<typeof newPlan> | z.output<typeof planChangeSchema>): string[] => [
  ...unknownFields(sent, namesOf(newPlan), namesOf(savedPlanSchema), 'a freeze plan'),
  ...unknownFields(sent.repositories ?? {}, ['include', 'exclude'], [], '`repositories`'),
  ...unknownFields(sent.source ?? {}, namesOf(source), [], '`source`'),
  ...unknownFields(sent.recurrence ?? {}, namesOf(recurrence), [], '`recurrence`'),
];

/** The answer to a creation or change. @param call.body that it answers. */
export function presentSavedPlan(saved: SavedPlan, { body }: { body: Parameters<typeof unknownIn>[0] }) {
  const warnings = [...unknownIn(body), ...saved.warnings];
  return { ...presentPlan(saved, true), ...(warnings.length > 0 && { warnings }) };
}
