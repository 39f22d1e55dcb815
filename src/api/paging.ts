import { z } from '@hono/zod-openapi';
import { invalid } from '../errors.ts';

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

/**
 * A page of a list that is short enough to read as a whole. A cursor is the id of the first item of its page, so that new
 * items at the end do not move the pages.
 * @param what an item, in a word. @throws Refusal invalid for a cursor that is of no item.
 */
export function pageByIds<Item extends { id: string }>(
  all: Item[],
  { cursor, per_page: size }: { cursor?: string; per_page: number },
  what: string,
): { items: Item[]; cursors: Record<'next' | 'prev', string | null> } {
  const at = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor);
  if (at === -1) {
    const message = `This cursor is of no ${what} in this list. Leave it out to start at the oldest ${what}.`;
    throw invalid([{ path: ['query', 'cursor'], message, type: 'value_error' }]);
  }
  const prev = at > 0 ? all[Math.max(0, at - size)]!.id : null;
  return { items: all.slice(at, at + size), cursors: { next: all[at + size]?.id ?? null, prev } };
}
