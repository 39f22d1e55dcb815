import { z } from '@hono/zod-openapi';

/** Who did something, in answers. */
export const who = z
  .object({
    type: z.enum(['application', 'user']),
    id: z.union([z.number().int(), z.uuid()]),
    name: z.string(),
  })
  .openapi('Actor', { description: 'An application key with its UUID, or a person with their GitHub ID.' });
