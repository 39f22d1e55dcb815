import { z } from '@hono/zod-openapi';
import { mostItems } from '../../conditions/parse-conditions.ts';
import type { Deps } from '../../deps.ts';
import type { SavedFreeze, FreezeChange } from '../../freezes/check-freeze.ts';
import {
  attributesOf,
  type AttributesOf,
  eachField,
  type FieldRule,
  type Freeze,
  holdables,
  type NewFreeze,
  onDeployments,
} from '../../freezes/freeze.ts';
import { requireFreeze } from '../../freezes/freeze-store.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { HandlerAnswer, unknownFields, warningHeader } from '../answers.ts';
import { glob, textSchema, owner, repository, uuid } from '../fields.ts';
import { isInHeader } from '../../freezes/freeze-warnings.ts';

/** The recursive part of the document. `conditions/` validates it, limits its depth and names every bad condition. */
const node = { anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/MatchingConditionsDict' }] };
const nodes = { type: 'array', minItems: 1, maxItems: mostItems, items: node };

export const matchingConditionsDict = {
  type: 'object',
  description: 'Has exactly one of these keys.',
  properties: { and: nodes, or: nodes, not: node },
  minProperties: 1,
  maxProperties: 1,
} as const;

export const conditions = (description: string) =>
  z.array(z.unknown()).openapi({ type: 'array', maxItems: mostItems, items: node, description } as object);

export const matching = conditions(
  'The freeze holds pull requests that match all of these conditions. An empty list matches every pull request.',
);
const exclude = conditions(
  'The freeze excludes pull requests that match all of these conditions. An empty list excludes none.',
);

/** A list in a change. Repeats its `type`, because the document has a handwritten one. */
const orNull = (list: ReturnType<typeof conditions>) =>
  list.nullish().openapi({ type: ['array', 'null'] } as object);

export const wallClock = 'Wall-clock time in `timezone`: ISO 8601 without a time zone designator';

/**
 * Not `date-time`, which has an offset as in RFC 3339: clients generated from the document would send one (422) or
 * refuse our answers. This format is in OpenAPI's registry, and generators treat unknown formats as text.
 */
export const localTime = z.string().openapi({
  format: 'date-time-local',
  description: wallClock,
  example: '2099-12-31T18:00:00',
});

/** The maximum length of a reason, from the interface. */
export const mostReason = 10_000;

const reason = textSchema(mostReason, 'A reason');
export const publicReason = textSchema(mostReason, 'A public reason').nullish().openapi({
  description: 'Statuses and public pages show this instead of the reason. If null, they show the reason',
});

/** The maximum length of a list of environments. */
const mostEnvironments = 100;

const holds = z
  .array(z.enum(holdables))
  .min(1, 'Name what the freeze holds: merges, deployments or both.')
  // Lists with the same meaning are equal.
  .overwrite((chosen) => holdables.filter((holdable) => chosen.includes(holdable)));
const environments = z
  .array(glob)
  .min(1, 'Name at least one environment. `*` matches every environment.')
  .max(mostEnvironments, `Name at most ${mostEnvironments} environments.`);

const onDeployment = z.enum(onDeployments);

/** The fields of a new freeze, and of a new plan. */
export const newFields = (what: 'freeze' | 'plan') => ({
  reason,
  public_reason: publicReason,
  start: localTime.nullable().openapi({ description: `${wallClock}. If null, the ${what} starts now` }),
  end: localTime
    .nullish()
    .openapi({ description: `${wallClock}. If null or absent, the ${what} has no end` }),
  timezone: z.string().openapi({ description: 'IANA time zone', example: 'Europe/Paris' }),
  matching_conditions: matching.optional(),
  exclude_conditions: exclude.optional(),
  holds: holds.optional(),
  environments: environments.optional(),
  on_deployment: onDeployment.optional(),
});

/** The fields of a change. */
export const changedFields = {
  reason: reason.nullish(),
  public_reason: publicReason,
  start: localTime.nullish(),
  end: localTime.nullish(),
  timezone: z.string().nullish(),
  matching_conditions: orNull(matching),
  exclude_conditions: orNull(exclude),
  holds: holds.nullish(),
  environments: environments.nullish(),
  on_deployment: onDeployment.nullish(),
};

/** The fields in answers. A plan has all of them. */
export const answeredFields = {
  reason: z.string(),
  public_reason: z.string().nullable(),
  start: localTime,
  end: localTime.nullable(),
  timezone: z.string(),
  matching_conditions: matching,
  exclude_conditions: exclude,
  holds: z.array(z.enum(holdables)),
  environments: z.array(z.string()),
  on_deployment: onDeployment,
};

/** Fields by their names in the API, as a request sends them. */
type SentFreeze<Fields> = { [Name in keyof AttributesOf<Fields>]?: AttributesOf<Fields>[Name] | null };

/** The fields of a request. @param otherwise what it means if a field is null or absent. */
export const readFields = <Fields>(
  body: SentFreeze<Fields>,
  otherwise: (rule: FieldRule, value: null | undefined) => unknown,
): Fields =>
  eachField((_, rule) => {
    const value: unknown = body[rule.column as keyof SentFreeze<Fields>];
    return value === null || value === undefined ? otherwise(rule, value) : value;
  });

/** The fields of a change, also of a plan. Null means no change of a field that cannot be null. */
export const readFreezeChange = (body: SentFreeze<NewFreeze>): FreezeChange =>
  readFields<FreezeChange>(body, ({ byDefault }, value) => (byDefault === null ? value : undefined));

const describedHolds = holds.openapi({ description: 'What the freeze holds. `merges` by default' });
const describedEnvironments = environments.openapi({
  description:
    'Globs of the environments whose deployments it holds, in any letter case. `*` by default. Ignored if the freeze does not hold `deployments`',
});
const describedOnDeployment = onDeployment.openapi({
  description:
    'What happens to a deployment that the freeze holds. `wait`: it waits until the freeze ends. `reject`: Holdfast rejects it at once. `wait` by default. Ignored if the freeze does not hold `deployments`',
});
const describedEnd = localTime
  .nullable()
  .openapi({ description: `${wallClock}. If null, the freeze has no end` });

/** Accepts unknown fields, which the answer names. */
export const newFreeze = z
  .looseObject({
    ...newFields('freeze'),
    holds: describedHolds.optional(),
    environments: describedEnvironments.optional(),
    on_deployment: describedOnDeployment.optional(),
  })
  .openapi('NewScheduledFreeze');

/** Fills in the defaults of absent fields. */
export const readNewFreeze = (body: z.output<typeof newFreeze>): NewFreeze =>
  readFields<NewFreeze>(body, ({ byDefault, unset }) => (unset ? undefined : byDefault));

export const freezeChange = z
  .looseObject({
    ...changedFields,
    start: localTime.nullish().openapi({
      description: `${wallClock}. You can change it until the freeze begins. If null, the freeze starts now`,
    }),
    end: describedEnd.optional(),
    holds: describedHolds.nullish(),
    environments: describedEnvironments.nullish(),
    on_deployment: describedOnDeployment.nullish(),
  })
  .openapi('ScheduledFreezeChange');

export const freezeDeletion = z
  .object({ delete_reason: textSchema(mostReason, 'A reason') })
  .openapi('ScheduledFreezeDeletion');

const freezeFields = {
  id: z.uuid(),
  ...answeredFields,
  public_reason: z
    .string()
    .nullable()
    .optional()
    .openapi({ description: 'Absent if it was never set. null if it was removed' }),
  end: describedEnd,
  holds: describedHolds.optional(),
  environments: describedEnvironments.optional(),
  on_deployment: describedOnDeployment.optional(),
  plan_id: z
    .uuid()
    .optional()
    .openapi({ description: 'The plan that created the freeze. Absent if none did' }),
};

export const freezeSchema = z.object(freezeFields).openapi('ScheduledFreeze');

/** A freeze in the answer to its creation or change. */
const savedFreezeSchema = z
  .object({
    ...freezeFields,
    warnings: z.array(z.string()).min(1).optional().openapi({
      description:
        'Possible mistakes, in sentences. Absent if there are none. Examples: nothing enforces the freeze, no open pull request matches, an author controls an exclusion, conditions were probably meant as `or`, or a field is unknown',
    }),
  })
  .openapi('SavedScheduledFreeze');

/** Far in the future, so that people who try it freeze nothing now and its end has not passed. */
export const exampleFreeze = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  reason: 'Quarter end',
  start: '2099-12-31T18:00:00',
  end: '2100-01-01T09:00:00',
  timezone: 'Europe/Paris',
  matching_conditions: ['base=main'],
  exclude_conditions: ['label=hotfix'],
};

export const freezeParams = z.object({ owner, repository, freeze_id: uuid('freeze_id') });

type FreezeCall = { deps: Deps; repository: FoundRepository; path: { freeze_id: string } };

/** The `exists` check of routes that name a freeze. */
export const freezeExists = ({ deps, repository, path }: FreezeCall) =>
  requireFreeze(deps, repository, path.freeze_id);

export const presentFreeze = (freeze: Freeze) => ({
  id: freeze.id,
  ...attributesOf(freeze),
  ...(freeze.planId !== undefined && { plan_id: freeze.planId }),
});

/** The successful response to a creation or change. */
export const savedFreezeSuccess = {
  description: 'The freeze',
  schema: savedFreezeSchema,
  example: exampleFreeze,
  headers: { Warning: 'The `warnings`, except those about unknown fields and about who can push' },
};

/** The answer to a creation or change. @param call.body that it answers. */
export function presentSaved(
  { freeze, warnings }: SavedFreeze,
  { body: sent }: { body: z.output<typeof newFreeze> | z.output<typeof freezeChange> },
): HandlerAnswer {
  const [fields, answered] = [newFreeze, savedFreezeSchema].map(({ shape }) => Object.keys(shape));
  const all = [...warnings, ...unknownFields(sent, fields!, answered!, 'a freeze')];
  const body = { ...presentFreeze(freeze), ...(all.length > 0 && { warnings: all }) };
  return new HandlerAnswer(body, warningHeader(warnings.filter(isInHeader)));
}
