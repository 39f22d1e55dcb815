import { nearNames } from '../conditions/suggest-names.ts';
import { isTimeZone } from '../time/local-time.ts';

/** Names in use that the list of the runtime lacks: it has one name for each zone, often the older. */
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

/** No name of a zone is longer; what is, is far from all of them. Digits are an offset's, which no name is near to. */
const mayBeName = (text: string): boolean => text.length <= 40 && !/\d/.test(text);
/** More than these were not meant by a slip, but by half of a name. */
const mostMeant = 3;

/** What to send instead of a text that is not a time zone, as a sentence. */
export function suggestTimeZones(text: string): string {
  const near = mayBeName(text) ? nearNames(text.trim().replaceAll(' ', '_'), names).filter(isTimeZone) : [];
  if (near.length > 0 && near.length <= mostMeant) return `Did you mean ${near.join(' or ')}?`;
  return 'Send an IANA name such as Europe/Paris, America/New_York or UTC.';
}
