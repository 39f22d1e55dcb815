import { z } from '@hono/zod-openapi';

const mostOnPage = 100;
const oneToMost = `Send a whole number from 1 to ${mostOnPage}.`;

/** `per_page` and `cursor`, which every paged list takes. */
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

/** The OpenAPI description of the `Link` header of a paged list. */
export const linkHeaderDescription =
  'Links to the previous and next pages (RFC 8288), with absolute URLs. Absent if there is only one page. Use the links as they are: the cursor is opaque.';

/** A `Link` header with the same query at other cursors. Existing clients need absolute URLs. */
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
