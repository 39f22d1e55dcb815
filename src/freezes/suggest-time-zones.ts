import { nearNames } from '../conditions/suggest-names.ts';
import { isTimeZone } from '../time/local-time.ts';

/** Common names that are missing from the runtime's list, which has one name for each zone, often the older one. */
const otherNames = [
  'America/Argentina/Buenos_Aires',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Etc/UTC',
  'Europe/Kyiv',
  'US/Central',
  'US/Eastern',
  'US/Mountain',
  'US/Pacific',
  'UTC',
];

const names = [...Intl.supportedValuesOf('timeZone'), ...otherNames];

/** No zone has a longer name, so longer texts get no suggestion. Digits are part of an offset, which is not a name. */
const mayBeName = (text: string): boolean => text.length <= 40 && !/\d/.test(text);
/** If there are more matches, the text is half of a name rather than a typo. */
const mostMeant = 3;

/** A sentence that suggests what to send instead of an invalid time zone. */
export function suggestTimeZones(text: string): string {
  const near = mayBeName(text) ? nearNames(text.trim().replaceAll(' ', '_'), names).filter(isTimeZone) : [];
  if (near.length > 0 && near.length <= mostMeant) return `Did you mean ${near.join(' or ')}?`;
  return 'Send an IANA name such as Europe/Paris, America/New_York or UTC.';
}
