// Field types that several bodies and queries share.
import { z } from '@hono/zod-openapi';

/** A text with a maximum length in code points, which are closer to what people see than UTF-16 units. */
export const text = (most: number, what = 'This') =>
  z
    .string()
    .refine(
      (value) => value.length <= most || [...value].length <= most,
      `${what} may have at most ${most} characters.`,
    )
    .openapi({ maxLength: most });

/** An instant with an offset. JavaScript and PostgreSQL write instants far outside these years differently. */
export const instant = (error: string) =>
  z.iso.datetime({ offset: true, error, abort: true }).refine((value) => {
    const year = new Date(value).getUTCFullYear();
    return year >= 1900 && year <= 9999;
  }, error);
