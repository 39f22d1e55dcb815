// Field types that several bodies and queries share.
import { z } from '@hono/zod-openapi';
import { compileNameGlob } from '../conditions/patterns/compile-name-glob.ts';
import { ParseError } from '../conditions/scanner.ts';

/** A text with a maximum length in code points, which are closer to what people see than UTF-16 units. */
export const textSchema = (most: number, what = 'This') =>
  z
    .string()
    .refine(
      (value) => value.length <= most || [...value].length <= most,
      `${what} may have at most ${most} characters.`,
    )
    .openapi({ maxLength: most });

/** An instant with an offset. JavaScript and PostgreSQL write instants far outside these years differently. */
export const instantField = (error: string) =>
  z.iso.datetime({ offset: true, error, abort: true }).refine((value) => {
    const year = new Date(value).getUTCFullYear();
    return year >= 1900 && year <= 9999;
  }, error);

export const owner = z
  .string()
  .min(1)
  .max(40, 'An owner has at most 40 characters.')
  .regex(/^[a-zA-Z0-9-]+$/, 'An owner has only letters, digits and hyphens.')
  .openapi({ param: { name: 'owner', in: 'path' }, example: 'acme' });

export const repository = z
  .string()
  .min(1)
  .max(100, 'A repository name has at most 100 characters.')
  .regex(/^[\w.-]+$/, 'A repository name has only letters, digits, hyphens, underscores and dots.')
  .openapi({ param: { name: 'repository', in: 'path' }, example: 'web' });

export const glob = textSchema(255, 'A glob')
  .min(1, 'A glob has at least 1 character.')
  .superRefine(checkGlob);

/** A list of globs; null for no limit. @param otherwise what null means: `all`. */
export const globs = (description: string, otherwise: 'all' | 'any', item: z.ZodType<string> = glob) =>
  z
    .array(item)
    .min(1, `Name at least one, or send null for ${otherwise}.`)
    .max(mostGlobs, `Name at most ${mostGlobs}.`)
    .nullish()
    .openapi({ description });

const mostGlobs = 50;

export function checkGlob(text: string, context: z.RefinementCtx): void {
  try {
    compileNameGlob(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    context.addIssue({ code: 'custom', message: `This is not a glob: ${error.message}.` });
  }
}

const greatest = 9_223_372_036_854_776_000n;

/** A bigint, because neither a float nor an int8 can hold the whole range. */
export const pullRequestNumber = z
  .string()
  .regex(
    /^(0|[1-9]\d*)$/,
    'A pull request number is a whole number in decimal digits, without sign or leading zeros.',
  )
  .max(19, `A pull request number is at most ${greatest}.`)
  .transform((digits) => BigInt(/^\d{1,19}$/.test(digits) ? digits : -1))
  .refine((value) => value <= greatest, `A pull request number is at most ${greatest}.`)
  .openapi({
    type: 'integer',
    minimum: 0,
    maximum: Number(greatest),
    param: { name: 'number', in: 'path' },
    example: 42,
  });

export const uuid = (name: string) =>
  z.guid('Send a UUID.').openapi({
    format: 'uuid',
    param: { name, in: 'path' },
    example: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  });

/** An id that somebody sent outside a path. PostgreSQL fails on others. */
export const sentUuid = z.guid();

/** The same; null if it is none, such as one that was typed. */
export const readUuid = (text: unknown): string | null => sentUuid.safeParse(text).data ?? null;

export const ownerParams = z.object({ owner });
export const repositoryParams = z.object({ owner, repository });

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
