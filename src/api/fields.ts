// Types of fields that several bodies and queries share.
import { z } from '@hono/zod-openapi';

/** Text, counted in characters as people see them in most languages: code points, not UTF-16 units. */
export const text = (most: number, what = 'This') =>
  z
    .string()
    .refine(
      (value) => value.length <= most || [...value].length <= most,
      `${what} may have at most ${most} characters.`,
    )
    .openapi({ maxLength: most });

/** An instant with its offset. Far beyond these years JavaScript and PostgreSQL write instants differently. */
export const instant = (error: string) =>
  z.iso.datetime({ offset: true, error, abort: true }).refine((value) => {
    const year = new Date(value).getUTCFullYear();
    return year >= 1900 && year <= 9999;
  }, error);
