import { z } from '@hono/zod-openapi';

/** Who did something, as answers name them. */
export const who = z
  .object({
    type: z.enum(['application', 'user']),
    id: z.union([z.number().int(), z.uuid()]),
    name: z.string(),
    run: z.url().optional().openapi({ description: 'The page of the run that a job belongs to' }),
  })
  .openapi('Actor', {
    description:
      'A key by its uuid, a person by the id at GitHub, or a job of GitHub Actions by the uuid of the OIDC rule that let it in.',
  });
