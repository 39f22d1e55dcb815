/** The supported parts of a rule. Plans have their own field for `UNTIL`, and weeks begin on Monday. */
const partNames = ['FREQ', 'INTERVAL', 'BYDAY', 'BYMONTHDAY', 'BYMONTH', 'BYSETPOS', 'COUNT'] as const;
type PartName = (typeof partNames)[number];

const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'];
const mostCharacters = 1000;
const mostInterval = 9999;
/** The highest COUNT. Larger counts would take too long, and nobody needs them. */
export const mostCount = 1000;

/** A valid rule: its parts by name, in capitals. */
export type Rule = { parts: Map<PartName, string> };

export type RuleResult = { ok: true; rule: Rule } | { ok: false; message: string };

const bad = (message: string) => ({ ok: false, message }) as const;

const isPartName = (name: string): name is PartName => partNames.includes(name as PartName);

/** Messages for parts of RFC 5545 that plans do not support. */
const otherParts: Record<string, string> = {
  UNTIL: 'Send the last date in `until`, beside the rule.',
  DTSTART: 'The rule counts from the `start` of the plan.',
  WKST: 'Weeks begin on Monday.',
};

/**
 * Reads a recurrence rule: an RRULE of RFC 5545 without DTSTART, in any letter case.
 * @returns the first problem, which names the part.
 */
export function parseRule(text: string): RuleResult {
  if (text.length > mostCharacters) return bad(`A rule has at most ${mostCharacters} characters.`);
  const parts = new Map<PartName, string>();
  for (const part of text.toUpperCase().split(';')) {
    const [, name = part, value = ''] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    const shown = name.slice(0, 40);
    if (!isPartName(name)) {
      const advice =
        otherParts[name] ?? `A rule has ${partNames.join(', ')}, such as FREQ=MONTHLY;BYDAY=3SA.`;
      return bad(`\`${shown}\` is not a part of a plan's rule. ${advice}`);
    }
    if (parts.has(name)) return bad(`${shown} stands twice in the rule. Send it once.`);
    const wrong = wrongValue[name](value);
    if (wrong) return bad(`${shown} ${wrong}`);
    parts.set(name, value);
  }
  const frequency = parts.get('FREQ');
  if (frequency === undefined) return bad(`FREQ is missing. Send one of ${frequencies.join(', ')}.`);
  const wrong = wrongTogether(parts, frequency);
  return wrong ? bad(wrong) : { ok: true, rule: { parts } };
}

function wrongTogether(parts: Rule['parts'], frequency: string): string | null {
  const isLong = frequency === 'MONTHLY' || frequency === 'YEARLY';
  if (/\d/.test(parts.get('BYDAY') ?? '') && !isLong)
    return `BYDAY takes a number such as 3SA with FREQ=MONTHLY and FREQ=YEARLY only. Send days without numbers.`;
  if (frequency === 'WEEKLY' && parts.has('BYMONTHDAY'))
    return 'BYMONTHDAY does not go with FREQ=WEEKLY. Use FREQ=DAILY or FREQ=MONTHLY.';
  if (
    parts.has('BYSETPOS') &&
    !['BYDAY', 'BYMONTHDAY', 'BYMONTH'].some((name) => parts.has(name as PartName))
  )
    return 'BYSETPOS chooses among days that BYDAY, BYMONTHDAY or BYMONTH name. Send one of them too.';
  return null;
}

/** The problem with the value of each part, as the end of a sentence; null if it is valid. */
const wrongValue: Record<PartName, (value: string) => string | null> = {
  FREQ: (value) =>
    frequencies.includes(value)
      ? null
      : `takes one of ${frequencies.join(', ')}: a plan begins once a day at most.`,
  INTERVAL: (value) => wrongNumber(value, mostInterval),
  COUNT: (value) => wrongNumber(value, mostCount),
  BYDAY: (value) =>
    everyItem(value, (item) => {
      const [, digits = null] = /^(?:[+-]?(\d{1,2}))?(?:MO|TU|WE|TH|FR|SA|SU)$/.exec(item) ?? [null, '0'];
      return digits === null || (Number(digits) >= 1 && Number(digits) <= 53);
    })
      ? null
      : 'takes days such as MO,3SA,-1FR: MO, TU, WE, TH, FR, SA or SU, each with a number up to 53 or none.',
  BYMONTHDAY: (value) => wrongNumbers(value, 31, true),
  BYMONTH: (value) => wrongNumbers(value, 12, false),
  BYSETPOS: (value) => wrongNumbers(value, 366, true),
};

const isNumber = (text: string, most: number): boolean =>
  /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= most;

const wrongNumber = (value: string, most: number): string | null =>
  isNumber(value, most) ? null : `takes a whole number from 1 to ${most}.`;

const everyItem = (value: string, isRight: (item: string) => boolean): boolean =>
  value.split(',').every(isRight);

function wrongNumbers(value: string, most: number, isSigned: boolean): string | null {
  const isRight = (item: string) => isNumber(isSigned ? item.replace(/^[+-]/, '') : item, most);
  if (everyItem(value, isRight)) return null;
  return `takes whole numbers from 1 to ${most}${isSigned ? ', also negative ones, which count from the end' : ''}.`;
}
