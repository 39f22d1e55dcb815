import type { Context } from 'hono';

/** One page of a REST list, with the `Link` header that clients follow. */
export function page<T>(c: Context, items: T[]): T[] {
  const size = Math.min(positive(c.req.query('per_page')) ?? 30, 100);
  const number = positive(c.req.query('page')) ?? 1;
  const last = Math.max(1, Math.ceil(items.length / size));
  const links: string[] = [];
  const link = (rel: string, target: number) => {
    const url = new URL(c.req.url);
    url.searchParams.set('page', String(target));
    links.push(`<${url}>; rel="${rel}"`);
  };
  if (number > 1) link('prev', number - 1);
  if (number < last) link('next', number + 1);
  if (number < last) link('last', last);
  if (number > 1) link('first', 1);
  if (links.length > 0) c.header('link', links.join(', '));
  return items.slice((number - 1) * size, number * size);
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return Number.isInteger(value) && value > 0 ? value : undefined;
}
