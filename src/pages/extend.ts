import { html } from 'hono/html';
import { Temporal } from 'temporal-polyfill';
import type { FreezeWindow } from '../freezes/freeze-window.ts';
import { toLocalTime } from '../time/local-time.ts';
import { badField, confirmation, hiddenField, textField } from './form.ts';
import type { Html } from './html.ts';

// Extends a freeze or a plan: by an hour, by a day, or until a time.

/** The forms. @param more the hidden fields that each form also sends. */
export const extendForms = (
  action: string,
  more: Html,
  { end, timezone }: Pick<FreezeWindow, 'end' | 'timezone'>,
): Html =>
  html`${
    end === null
      ? ''
      : html`<form class="actions" method="post" action="${action}">
          ${more}
          <button type="submit" class="quiet" name="by" value="hour">+1 hour</button>
          <button type="submit" class="quiet" name="by" value="day">+1 day</button>
        </form>`
  }
  ${confirmation(
    'Set end…',
    action,
    html`${more} ${hiddenField('by', 'until')}
    ${textField(
      {
        name: 'end',
        id: 'new-end',
        label: 'End',
        value: fieldTime(end),
        hint: `Local time in ${timezone}.`,
        attributes: html`required step="any"`,
      },
      'datetime-local',
    )}`,
    'Set end',
    'confirms',
  )}`;

/** The field value for a wall-clock time. Browsers leave out seconds that are zero. */
export const fieldTime = (localTime: string | null): string => localTime?.replace(/:00$/, '') ?? '';

/**
 * The end that a form asks for: one elapsed hour later, the same wall-clock time on the next day, or the time that was
 * typed.
 * @throws Refusal invalid.
 */
export function newEnd(
  { end, endsAt, timezone }: Pick<FreezeWindow, 'end' | 'endsAt' | 'timezone'>,
  form: URLSearchParams,
): string {
  const by = form.get('by');
  if (by === 'until') return form.get('end') ?? '';
  if (end === null || endsAt === null) throw badField('end', 'It has no end yet. Choose an end.');
  if (by === 'hour') return toLocalTime(new Date(endsAt.getTime() + 3_600_000), timezone);
  if (by === 'day') return Temporal.PlainDateTime.from(end).add({ days: 1 }).toString();
  throw badField('end', 'Choose how long to extend it.');
}
