import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { html } from 'hono/html';
import { isTimeZone } from '../../time/local-time.ts';
import type { Html } from '../layout.ts';

/** What the URL of a repository's page asks for. */
export type View = {
  /** The requested zone, in Temporal's spelling; null for the reader's. */
  zone: string | null;
  /** The first freeze of the list of ongoing and scheduled freezes; null for the earliest. */
  current: string | null;
  /** The first freeze of the list of past freezes; null for the newest. */
  past: string | null;
};

/** The query parameters that a link may change. */
type ViewQuery = Partial<Record<'zone' | 'current' | 'past', string>>;

/**
 * Reads the query of a URL. Ignores invalid parameters and describes them in sentences.
 * @param query the first value of each parameter.
 */
export function readView(query: ViewQuery): { view: View; problems: string[] } {
  const problems: string[] = [];
  const given = (name: keyof ViewQuery) => query[name] || null;
  const read = <Value>(name: keyof ViewQuery, parse: (text: string) => Value | null, problem: string) => {
    const text = given(name);
    const value = text === null ? null : parse(text);
    if (text !== null && value === null) problems.push(problem);
    return value;
  };
  const zone = read(
    'zone',
    (text) => (isTimeZone(text) ? spellingOf(text) : null),
    'This is not a time zone. Use an IANA name such as Europe/Paris.',
  );
  const past = read('past', (text) => (z.guid().safeParse(text).success ? text : null), noSuchFreeze);
  const current = given('current');
  return { view: { zone, current, past }, problems };
}

export const noSuchCurrentFreeze =
  'This page of ongoing and scheduled freezes does not exist. The list starts with the earliest freeze.';

export const noSuchFreeze =
  'This page of past freezes does not exist. The list starts with the newest freeze.';

const spellingOf = (zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId;

/**
 * The relative URL of the same view with some parameters changed. Null removes a parameter.
 * @param part the id of the element to scroll to.
 */
export function linkTo(
  view: View,
  change: Partial<Record<keyof ViewQuery, string | null>>,
  part: string,
): string {
  const words = Object.entries({ ...view, ...change }).filter(([, value]) => value !== null);
  return `?${new URLSearchParams(words as [string, string][])}#${part}`;
}

/** The query parameters that a form of the page keeps. */
export const kept = (words: Record<string, string | null>): Html[] =>
  Object.entries(words).flatMap(([name, value]) =>
    value === null ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`],
  );

export const option = (value: string, name: string, isChosen: boolean): Html =>
  html`<option value="${value}" ${isChosen ? html`selected` : ''}>${name}</option>`;
