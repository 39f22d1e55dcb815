import { html } from 'hono/html';
import { Temporal } from 'temporal-polyfill';
import { monthName } from '../calendar/calendar-window.ts';
import { occurrencesFrom, type Schedule } from '../../plans/occurrences.ts';
import type { Html } from '../html.ts';

/** How many months are shown, of those in which something begins, and how many occurrences are looked at. */
const mostMonths = 4;
const mostDays = 200;

/** The local dates on which a plan begins something, or would without its skipped dates, by their months. */
export function monthsOf(plan: Schedule, now: Date): Map<string, string[]> {
  if (!plan.recurrence) return new Map();
  const all = { ...plan, changes: null, recurrence: { ...plan.recurrence, except: [] } };
  const months = new Map<string, string[]>();
  for (const { start } of occurrencesFrom(all, now).take(mostDays)) {
    const month = start.slice(0, 7);
    if (!months.has(month) && months.size === mostMonths) break;
    months.set(month, [...(months.get(month) ?? []), start.slice(0, 10)]);
  }
  return months;
}

/**
 * Small calendars of the next months of a plan that repeats: each day on which it begins is a box, and a tick takes the day
 * out. @param skipped the dates that are taken out.
 */
export function daysToSkip(months: ReadonlyMap<string, string[]>, skipped: readonly string[]): Html | '' {
  if (months.size === 0) return '';
  return html`<fieldset class="days-to-skip">
    <legend>Days</legend>
    <p class="hint">Choose a day to skip it.</p>
    ${[...months].map(([month, days]) => monthOf(Temporal.PlainDate.from(`${month}-01`), days, skipped))}
  </fieldset>`;
}

function monthOf(first: Temporal.PlainDate, days: string[], skipped: readonly string[]): Html {
  const dates = Array.from({ length: first.daysInMonth }, (_, index) => first.add({ days: index }));
  return html`<div class="small-month">
    <p>${monthName(first)}</p>
    <div>
      ${dates.map((date) => {
        const place = date.day === 1 ? html` class="c${date.dayOfWeek}"` : '';
        const text = date.toString();
        const name = date.toLocaleString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
        return days.includes(text)
          ? html`<label${place} title="${name}"
              ><input
                type="checkbox"
                name="off"
                value="${text}"
                aria-label="Skip ${name}"
                ${skipped.includes(text) ? html`checked` : ''}
              />${date.day}</label
            >`
          : html`<span${place}>${date.day}</span>`;
      })}
    </div>
  </div>`;
}
