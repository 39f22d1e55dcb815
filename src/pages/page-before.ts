import type { Context } from 'hono';
import type { Deps } from '../deps.ts';

/** The Holdfast page with the link or form that led here. Browsers send its URL to the same origin only. */
export function pageBefore(
  { req }: Context,
  { config: { publicUrl } }: Pick<Deps, 'config'>,
): string | undefined {
  const referer = req.header('Referer') ?? '';
  if (!URL.canParse(referer)) return undefined;
  const { origin, pathname, search } = new URL(referer);
  const isOwn = origin === new URL(publicUrl).origin && !pathname.startsWith('/auth/');
  return isOwn ? pathname + search : undefined;
}
