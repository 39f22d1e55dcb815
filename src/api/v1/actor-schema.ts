import { z } from '@hono/zod-openapi';

/** Who did something, in answers. */
export const who = z
  .object({
    type: z.enum(['application', 'user']),
    id: z.union([z.number().int(), z.uuid()]),
    name: z.string(),
    run: z.url().optional().openapi({ description: 'The page of the run that a job belongs to' }),
  })
  .openapi('Actor', {
    description:
      'An application key with its UUID, a person with their GitHub ID, or a GitHub Actions job with the UUID of the OIDC rule that let it in.',
  });
