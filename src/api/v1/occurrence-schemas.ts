import { z } from '@hono/zod-openapi';
import type { OccurrenceOrder } from '../../plans/change-occurrence.ts';
import type { SavedPlan } from '../../plans/show-plan.ts';
import { parseLocalTime } from '../../time/local-time.ts';
import { unknownFields } from '../answers.ts';
import { localTime, wallClock } from './freeze-schemas.ts';
import { namesOf, planParams, presentPlan } from './plan-schemas.ts';

/** What to do with one occurrence: skip it or put it back, or move it. */
export const occurrenceChange = z
  .looseObject({
    skip: z.boolean().optional().openapi({
      description: 'Whether no freeze starts. `false` puts a skipped occurrence back',
    }),
    start: localTime.optional().openapi({ description: `Moves it. ${wallClock} of the plan` }),
    end: localTime.optional().openapi({
      description: `Moves its end. ${wallClock} of the plan. One that has passed ends an ongoing occurrence`,
    }),
  })
  .superRefine(({ skip, start, end }, context) => {
    if ((skip === undefined) !== (start === undefined && end === undefined)) return;
    const message = 'Send either `skip`, or a `start` or an `end` to move the occurrence.';
    context.addIssue({ code: 'custom', path: [], message, input: undefined });
  })
  .openapi('OccurrenceChange');

export const readOccurrenceChange = ({
  skip,
  start,
  end,
}: z.output<typeof occurrenceChange>): OccurrenceOrder =>
  skip === undefined ? { ...(start && { start }), ...(end && { end }) } : { skip };

export const occurrencePath = planParams.extend({
  start: z
    .string()
    .transform((text, context) => {
      const parsed = parseLocalTime(text);
      if (parsed.ok) return parsed.value;
      context.addIssue({ code: 'custom', message: parsed.message, input: text });
      return z.NEVER;
    })
    .openapi({
      type: 'string',
      param: { name: 'start', in: 'path' },
      description: 'When the occurrence starts, as `next_occurrences` shows it',
      example: '2099-12-24T18:00:00',
    }),
});

/** The answer to a change of an occurrence. @param call.body that it answers. */
export function presentChangedPlan(saved: SavedPlan, { body }: { body: z.output<typeof occurrenceChange> }) {
  const warnings = unknownFields(body, namesOf(occurrenceChange), [], 'an occurrence');
  return { ...presentPlan(saved, true), ...(warnings.length > 0 && { warnings }) };
}
