import { Temporal } from 'temporal-polyfill';
import { holdsDeployments, holdsMerges, type FreezeFields } from '../../freezes/freeze.ts';
import { isOnce, type Occurrence, type Schedule } from '../../plans/occurrences.ts';
import { dayNames, weekDays, wordsOfRule } from '../../plans/repetition.ts';
import { localDayAndTime } from '../../time/local-time.ts';

// What a freeze or a plan will do, in one sentence, such as: Blocks merges every second Friday 09:00 to 18:00 from 27 Nov,
// not on 25 Dec, in 6 repositories.

type Said = Schedule & Pick<Required<FreezeFields>, 'holds' | 'environments'>;

/** How many skipped dates a sentence names. */
const mostNamed = 4;

/**
 * @param where such as `6 repositories`. @param first the first occurrence that is not over; undefined if there is none.
 * @param today the wall-clock time now, in the zone of the plan. @param isNow whether it begins when it is made.
 */
export function sentenceOf(
  plan: Said,
  where: string,
  first: Occurrence | undefined,
  today: string,
  isNow: boolean,
): string {
  return `Blocks ${whatIn(plan)} ${whenOf(plan, first, today, isNow)}, in ${where}.`;
}

function whatIn({ holds, environments }: Said): string {
  const to = environments.join() === '*' ? '' : ` to ${environments.join(', ')}`;
  return [
    holdsMerges({ holds }) ? 'merges' : [],
    holdsDeployments({ holds, environments }) ? `deployments${to}` : [],
  ]
    .flat()
    .join(' and ');
}

function whenOf(plan: Said, first: Occurrence | undefined, today: string, isNow: boolean): string {
  const { recurrence, source } = plan;
  if (!first) return 'on no day yet';
  const { start, end } = first;
  const shown = (time: string) => localDayAndTime(time, today);
  if (source) return `on the events of the calendar, next from ${shown(start)} to ${shown(end!)}`;
  if (isOnce(plan) || !recurrence) {
    const until = end === null ? 'until somebody ends it' : `to ${shown(end)}`;
    return `${isNow ? 'from now' : `from ${shown(start)}`} ${until}`;
  }
  const { rule, except, until } = recurrence;
  const { often, only } = repeats(rule, plan.start);
  // Words that name a day need a pause before the time: "every month on day 30, 09:00 to 18:00".
  const pause = /\bon /.test(often) ? ',' : '';
  return [
    `${often}${pause} ${start.slice(11, 16)} to ${endWords(start, end!)} from ${dateWords(start, today)}`,
    ...(only ? [only] : []),
    ...(until ? [`until ${dateWords(until, today)}`] : []),
    ...(except.length > 0 ? [`not on ${some(except, today)}`] : []),
  ].join(', ');
}

/** `every second Friday`, `every day`, or the rule itself; and in which months or years alone. */
function repeats(rule: string, start: string): NonNullable<ReturnType<typeof wordsOfRule>> {
  const words = wordsOfRule(rule, start);
  if (words === null) return { often: `by the rule ${rule}`, only: null };
  const weekday = weekDays[dayNames[Temporal.PlainDate.from(start.slice(0, 10)).dayOfWeek - 1]!];
  const often = words.often
    .replace(/^Every( \d+)? weeks?$/, `$& on ${weekday}`)
    .replace(/^Every 2 weeks on (\w+)$/, 'every second $1')
    .replace(/^Every week on (\w+)$/, 'every $1')
    .replace(/^Monday to Friday$/, 'on $&')
    .replace(/^Every/, 'every');
  return { often, only: words.only };
}

/** `18:00`, or with how many days later it is. */
function endWords(start: string, end: string): string {
  const days = Temporal.PlainDate.from(start.slice(0, 10)).until(end.slice(0, 10)).days;
  const time = end.slice(11, 16);
  return days === 0 ? time : days === 1 ? `${time} the next day` : `${time} ${days} days later`;
}

/** `27 Nov`, with the year if it is another one. */
const dateWords = (date: string, today: string): string =>
  localDayAndTime(`${date.slice(0, 10)}T00:00:00`, today)
    .split(',')[0]!
    .replace(/^\w+ /, '');

function some(dates: string[], today: string): string {
  const shown = dates.toSorted().slice(0, mostNamed);
  const more = dates.length - shown.length;
  return [
    ...shown.map((date) => dateWords(date, today)),
    ...(more > 0 ? [`${more} more ${more === 1 ? 'day' : 'days'}`] : []),
  ]
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1');
}
