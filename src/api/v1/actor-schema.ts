import { z } from '@hono/zod-openapi';

/** Who did something, as answers name them. */
export const who = z
  .object({
    type: z.enum(['application', 'user']),
    id: z.union([z.number().int(), z.uuid()]),
    name: z.string(),
  })
  .openapi('Actor', { description: 'A key by its uuid, or a person by the id at GitHub.' });
