import { z } from '@hono/zod-openapi';
import { mostItems } from '../../conditions/parse-conditions.ts';
import { compileNameGlob } from '../../conditions/patterns/compile-name-glob.ts';
import { PatternError } from '../../conditions/patterns/pattern-error.ts';
import type { Deps } from '../../deps.ts';
import type { NewFreeze, SavedFreeze } from '../../freezes/create-freeze.ts';
import { type Freeze, holdables } from '../../freezes/freeze.ts';
import type { FreezeChange } from '../../freezes/update-freeze.ts';
import { attributesOf } from '../../freezes/freeze-store.ts';
import { requireFreeze } from '../../freezes/require-freeze.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { HandlerAnswer } from '../endpoint.ts';
import { text } from '../fields.ts';
import { owner, repository, uuid } from '../path-params.ts';
import { unknownFields } from '../unknown-fields.ts';
import { warningHeader } from '../warning-header.ts';

/** The recursive part of the document. Validated by `conditions/`, which counts depth and names every bad leaf. */
const node = { anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/MatchingConditionsDict' }] };
const nodes = { type: 'array', minItems: 1, maxItems: mostItems, items: node };

export const matchingConditionsDict = {
  type: 'object',
  description: 'Exactly one of the keys.',
  properties: { and: nodes, or: nodes, not: node },
  minProperties: 1,
  maxProperties: 1,
} as const;

export const conditions = (description: string) =>
  z.array(z.unknown()).openapi({ type: 'array', maxItems: mostItems, items: node, description } as object);

export const matching = conditions(
  'Pull requests matching all of these are frozen; an empty list matches every one.',
);
export const exclude = conditions(
  'Pull requests matching all of these are not frozen; an empty list excludes none.',
);

/** A list of a change. Its `type` is said again, as that of the document is given by hand. */
export const orNull = (list: ReturnType<typeof conditions>) =>
  list.nullish().openapi({ type: ['array', 'null'] } as object);

export const wallClock = 'Wall-clock time in `timezone`: ISO 8601 without a designator';

/**
 * Not `date-time`: that is RFC 3339's, which has an offset, so that clients made from the document would send one (422)
 * or refuse our answers. OpenAPI's registry of formats has this one, and generators take what they do not know as text.
 */
export const localTime = z.string().openapi({
  format: 'date-time-local',
  description: wallClock,
  example: '2026-03-01T10:00:00',
});

/** Characters of a reason, as the interface says. */
export const mostReason = 10_000;

export const publicReason = text(mostReason, 'A public reason').nullish().openapi({
  description:
    'What everybody but admins and insiders reads in the place of the reason, in statuses first of all; null: the reason itself',
});

/** Items of a list of environments. */
const mostEnvironments = 100;

export const holds = z
  .array(z.enum(holdables))
  .min(1, 'A freeze holds something: name merges, deployments or both.');
export const environments = z
  .array(text(255, 'A glob').min(1, 'A glob has at least 1 character.').superRefine(checkGlob))
  .min(1, 'Name at least one environment; `*` is every one.')
  .max(mostEnvironments, `Name at most ${mostEnvironments} environments.`);

const whatItHolds = {
  holds: holds.openapi({ description: 'What it holds: `merges` where it was never set' }),
  environments: environments.openapi({
    description:
      'Globs over the environments whose deployments it holds, in any case of letters: `*` where they were never set. Ignored where it does not hold `deployments`',
  }),
};

export function checkGlob(glob: string, context: z.RefinementCtx): void {
  try {
    compileNameGlob(glob);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    context.addIssue({ code: 'custom', message: `This is not a glob: ${error.message}.` });
  }
}

/** In one order and once each, so that lists that mean the same are the same. */
export const inOrder = (chosen: z.output<typeof holds> | null | undefined) =>
  chosen ? holdables.filter((holdable) => chosen.includes(holdable)) : undefined;

/** Loose: fields that nobody knows are accepted, and named in the answer. */
export const newFreeze = z
  .looseObject({
    reason: text(mostReason, 'A reason'),
    public_reason: publicReason,
    start: localTime.nullable().openapi({ description: `${wallClock}; null begins now` }),
    end: localTime.nullish().openapi({ description: `${wallClock}; null or absent: no end` }),
    timezone: z.string().openapi({ description: 'IANA time zone', example: 'Europe/Paris' }),
    matching_conditions: matching.optional(),
    exclude_conditions: exclude.optional(),
    holds: whatItHolds.holds.optional(),
    environments: whatItHolds.environments.optional(),
  })
  .openapi('NewScheduledFreeze');

/** What the fields that were left out stand for. */
export const readNewFreeze = (body: z.output<typeof newFreeze>): NewFreeze => ({
  reason: body.reason,
  publicReason: body.public_reason ?? undefined,
  start: body.start,
  end: body.end ?? null,
  timezone: body.timezone,
  matchingConditions: body.matching_conditions ?? [],
  excludeConditions: body.exclude_conditions ?? [],
  holds: inOrder(body.holds),
  environments: body.environments,
});

export const freezeChange = z
  .looseObject({
    reason: text(mostReason, 'A reason').nullish(),
    public_reason: publicReason,
    start: localTime
      .nullish()
      .openapi({ description: `${wallClock}; only while the freeze has not begun; null begins now` }),
    end: localTime.nullish().openapi({ description: `${wallClock}; null: no end` }),
    timezone: z.string().nullish(),
    matching_conditions: orNull(matching),
    exclude_conditions: orNull(exclude),
    holds: whatItHolds.holds.nullish(),
    environments: whatItHolds.environments.nullish(),
  })
  .openapi('ScheduledFreezeChange');

/** What the fields of a change mean: null leaves most of them as they are. */
export const readFreezeChange = (body: z.output<typeof freezeChange>): FreezeChange => ({
  reason: body.reason ?? undefined,
  publicReason: body.public_reason,
  start: body.start,
  end: body.end,
  timezone: body.timezone ?? undefined,
  matchingConditions: body.matching_conditions ?? undefined,
  excludeConditions: body.exclude_conditions ?? undefined,
  holds: inOrder(body.holds),
  environments: body.environments ?? undefined,
});

export const freezeDeletion = z
  .object({ delete_reason: text(mostReason, 'A reason') })
  .openapi('ScheduledFreezeDeletion');

const freezeFields = {
  id: z.uuid(),
  reason: z.string(),
  public_reason: z
    .string()
    .nullable()
    .optional()
    .openapi({ description: 'Absent where it was never set; null where it was taken away' }),
  start: localTime,
  end: localTime.nullable().openapi({ description: `${wallClock}; null: no end` }),
  timezone: z.string(),
  matching_conditions: matching,
  exclude_conditions: exclude,
  holds: whatItHolds.holds.optional(),
  environments: whatItHolds.environments.optional(),
  plan_id: z.uuid().optional().openapi({ description: 'The plan that made it; absent where none did' }),
};

export const freezeSchema = z.object(freezeFields).openapi('ScheduledFreeze');

/** A freeze as the answer to its creation or change shows it. */
const savedFreezeSchema = z
  .object({
    ...freezeFields,
    warnings: z.array(z.string()).min(1).optional().openapi({
      description:
        'What looks like a mistake, in sentences; absent where nothing does: nothing enforces the freeze, no open pull request matches, its author controls an exclusion, its items were probably meant as `or`, a field that nobody knows',
    }),
  })
  .openapi('SavedScheduledFreeze');

export const exampleFreeze = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  reason: 'Quarter end',
  start: '2026-03-31T18:00:00',
  end: '2026-04-01T09:00:00',
  timezone: 'Europe/Paris',
  matching_conditions: ['base=main'],
  exclude_conditions: ['label=hotfix'],
};

export const freezePath = z.object({ owner, repository, freeze_id: uuid('freeze_id') });

type FreezeCall = { deps: Deps; repository: FoundRepository; path: { freeze_id: string } };

/** The `exists` of routes that name a freeze. */
export const freezeExists = ({ deps, repository, path }: FreezeCall) =>
  requireFreeze(deps, repository, path.freeze_id);

export const presentFreeze = (freeze: Freeze) => ({
  id: freeze.id,
  ...attributesOf(freeze),
  ...(freeze.planId !== undefined && { plan_id: freeze.planId }),
});

/** The success of a creation or change. */
export const savedFreezeSuccess = {
  description: 'The freeze',
  schema: savedFreezeSchema,
  example: exampleFreeze,
  headers: { Warning: 'The `warnings` but for fields that nobody knows' },
};

/**
 * The answer to a creation or change.
 * @param sent the body that it answers.
 */
export function savedFreezeAnswer(
  status: 200 | 201,
  { freeze, warnings }: SavedFreeze,
  sent: z.output<typeof newFreeze> | z.output<typeof freezeChange>,
): HandlerAnswer {
  const [fields, answered] = [newFreeze, savedFreezeSchema].map(({ shape }) => Object.keys(shape));
  const all = [...warnings, ...unknownFields(sent, fields!, answered!, 'a freeze')];
  const body = { ...presentFreeze(freeze), ...(all.length > 0 && { warnings: all }) };
  return new HandlerAnswer(status, body, warningHeader(warnings));
}
