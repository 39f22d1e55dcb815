/** Milliseconds. */
export const oneDay = 86_400_000;

const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const daysBefore = lengths.map((_, month) =>
  lengths.slice(0, month).reduce((sum, length) => sum + length, 0),
);
const daysFromYear1To1970 = 719_162;

export const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** @param month from 1, as everywhere here. */
export const daysIn = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : lengths[month - 1]!;

export const isDate = (year: number, month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);

/**
 * A date of the Gregorian calendar, which exists, as milliseconds since 1970-01-01 on a clock without zone. Not
 * `Date.UTC`: that takes the years 0 to 99 for 1900 to 1999, and a wildcard asks for thousands.
 */
export function midnightOf(year: number, month: number, day: number): number {
  const past = year - 1;
  const leapDays = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
  const thisYear = daysBefore[month - 1]! + Number(month > 2 && isLeapYear(year)) + day - 1;
  return (past * 365 + leapDays + thisYear - daysFromYear1To1970) * oneDay;
}
