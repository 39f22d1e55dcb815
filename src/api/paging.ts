import { z } from '@hono/zod-openapi';

const mostOnPage = 100;
const oneToMost = `Send a whole number from 1 to ${mostOnPage}.`;

/** `per_page` and `cursor`, as every list that has pages takes them. */
export const pagingQuery = (defaultSize: number) => ({
  per_page: z
    .string()
    .regex(/^[1-9]\d*$/, oneToMost)
    .refine((digits) => Number(digits) <= mostOnPage, oneToMost)
    .default(String(defaultSize))
    .transform(Number)
    .openapi({ type: 'integer', minimum: 1, maximum: mostOnPage, default: defaultSize }),
  cursor: z.string().max(100).optional(),
});

/** What the OpenAPI document says of the `Link` header of a list that has pages. */
export const linkHeaderDescription =
  'The pages around this one (RFC 8288), with absolute addresses; absent where there is only this page. Take them as they are: the cursor is opaque.';

/** A `Link` header; the same question from other places, absolute, as existing clients need it. */
export function linkHeader(url: string, cursors: Record<string, string | null>): Record<string, string> {
  const links = Object.entries(cursors).flatMap(([rel, cursor]) =>
    cursor === null ? [] : [`<${withCursor(url, cursor)}>; rel="${rel}"`],
  );
  return links.length > 0 ? { Link: links.join(', ') } : {};
}

function withCursor(url: string, cursor: string): string {
  const target = new URL(url);
  target.searchParams.set('cursor', cursor);
  return target.href;
}
