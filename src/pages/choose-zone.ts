import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { readLimited } from '../api/read-request.ts';
import { ownPath } from '../auth/sign-in/attempt.ts';
import type { Deps } from '../deps.ts';
import { isTimeZone } from '../time/local-time.ts';
import { messagePage, pageBefore } from './message-page.ts';

const largestChoice = 1024;
const aYear = 365 * 86_400;

/**
 * `POST /time-zone`: keeps the time zone that the reader chose in the header, and shows the page before in it. An empty
 * one is the browser's again.
 */
export async function chooseZone(deps: Deps, context: Context): Promise<Response> {
  const form = new URLSearchParams(
    new TextDecoder().decode(await readLimited(context.req.raw, largestChoice)),
  );
  const asked = (form.get('own_zone') ?? '').trim();
  const zone = zoneNamed(asked);
  const back = withoutZone(ownPath(pageBefore(context, deps)));
  if (zone !== undefined) setCookie(context, 'zone', zone, { path: '/', maxAge: aYear, sameSite: 'Lax' });
  else if (asked === '') deleteCookie(context, 'zone', { path: '/' });
  else return context.redirect(`/time-zone?${new URLSearchParams({ back })}`, 303);
  return context.redirect(back, 303);
}

/** `GET /time-zone`: says that there is no such time zone. @param back in the query: where the reader was. */
export function refuseZone(context: Context): Promise<Response> {
  const link = { href: ownPath(context.req.query('back')), text: 'Back' };
  return messagePage(context, { ...unknown, link });
}

/** For a form that another site sent. */
export const foreignZone = {
  title: 'Nothing was changed',
  text: 'The form came from another site. Choose the time zone on a page of Holdfast.',
};

const unknown = {
  status: 422,
  title: 'This is not a time zone',
  text: 'Write the name of a time zone, such as Europe/Berlin, or its city, such as Berlin.',
} as const;

/** The time zone with this name, or of this city, in any letter case. */
function zoneNamed(asked: string): string | undefined {
  const name = asked.replaceAll(' ', '_').toLowerCase();
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const found = zones.find((zone) => `/${zone}`.toLowerCase().endsWith(`/${name}`));
  return found ?? (isTimeZone(asked) ? asked : undefined);
}

/** A zone in the address would hide the choice. */
function withoutZone(path: string): string {
  const [pathname, search] = path.split('?') as [string, string?];
  const query = new URLSearchParams(search);
  query.delete('zone');
  return query.size > 0 ? `${pathname}?${query}` : pathname;
}
