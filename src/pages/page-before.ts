import type { Context } from 'hono';
import type { Deps } from '../deps.ts';

/** The page of ours on which a link or a form stands that led here; browsers send its address to the same origin alone. */
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
