import type { ConditionInput } from '../conditions/ast.ts';
import { inOneLine } from '../conditions/sentence.ts';
import { type Actor, actorName, ourselves } from '../events/actor.ts';
import { changesInEvent, type Holding, whatIsBlocked } from '../words/describe-fields.ts';
import { shorten, whatChanged } from '../words/event-words.ts';
import { dayAndTime, localDayAndTime, toInstant, toLocalTime } from '../time/local-time.ts';
import type { Notice } from './notice.ts';

// Parts of the sentences that tell a notice.

/** @property name `acme/web`, `#7 of acme/web`, `501 repositories of acme` or `acme`. */
export type FrozenPlace = { name: string; isMany: boolean; isPublic: boolean };

/** What is frozen, at the beginning of a sentence. */
export const held = (notice: Notice, { name }: FrozenPlace): string =>
  holdsMergesWords(notice) ? name : `Deployments of ${name}`;

export const areOrIs = (notice: Notice, { isMany }: FrozenPlace): string =>
  isMany || !holdsMergesWords(notice) ? 'are' : 'is';

export function holdsMergesWords({ freeze }: Notice): boolean {
  const holds = freeze?.['holds'];
  return !Array.isArray(holds) || holds.includes('merges');
}

/** @returns null where nobody did it, or where that is not known. */
export function whoOf({ actor, planId }: Notice, place: FrozenPlace): string | null {
  if (actor === null || actor.id === ourselves.id) return planId === null ? null : 'A plan';
  const name = nameInNotice(actor, place);
  return actor.type === 'user' ? name : name.charAt(0).toUpperCase() + name.slice(1);
}

/** People outside see the logins of GitHub, and no names of ours. */
function nameInNotice(actor: Actor, { isPublic }: FrozenPlace): string {
  if (!isPublic || actor.type === 'user') return shorten(actorName(actor), 80);
  return actor.run === undefined ? 'an application key' : 'a job';
}

/** `ada merged #7 of acme/web past a freeze.` @param passive the words where nobody is known to have done it. */
export function happened(
  notice: Notice,
  place: FrozenPlace,
  did: string,
  how: string,
  passive: string,
): string {
  const who = whoOf(notice, place);
  return who === null ? `${place.name} ${passive}.` : `${who} ${did} ${place.name} ${how}.`;
}

/** `ada froze it: INC-9`. */
export function whoAndWhy(notice: Notice, place: FrozenPlace, did: string): string | null {
  const who = whoOf(notice, place);
  const why = whyOf(notice.freeze, place);
  if (who === null) return reasonOf(notice, place);
  return why === '' ? `${who} ${did}.` : `${who} ${did}: ${why}`;
}

export function reasonOf({ freeze }: Notice, place: FrozenPlace): string | null {
  const why = whyOf(freeze, place);
  return why === '' ? null : `Reason: ${why}`;
}

function whyOf(freeze: Notice['freeze'], { isPublic }: FrozenPlace): string {
  const open = freeze?.['public_reason'];
  return isPublic && typeof open === 'string' ? open : (freeze?.reason ?? '');
}

/**
 * Why somebody wants an exemption, and who, unless the headline says it. It may be an exemption from a freeze whose reason
 * is not public, so its own reason is not public either.
 */
export function exemptionReason({ type, exemption }: Notice, place: FrozenPlace): string | null {
  const why = place.isPublic ? exemption?.['public_reason'] : exemption?.reason;
  const after = typeof why === 'string' && why !== '' ? `: ${why}` : null;
  const requester = exemption?.['requested_by'] as Actor | undefined;
  if (type.endsWith('exemption.requested') || !requester) return after && `Reason${after}`;
  return `Requested by ${nameInNotice(requester, place)}${after ?? '.'}`;
}

/** The reason of a deletion or a decision. */
export function decisionOf({ type, details }: Notice, { isPublic }: FrozenPlace): string | null {
  const why = details['reason'];
  if (isPublic || typeof why !== 'string' || why === '') return null;
  return `Reason for the ${type === 'freeze.deleted' ? 'deletion' : 'decision'}: ${why}`;
}

const zoneOf = ({ freeze }: Notice): string => String(freeze?.['timezone'] ?? 'UTC');

/** `Fri 1 Jan 2027, 09:00 (Europe/Paris)`. */
export const timeOf = (at: Date, notice: Notice): string =>
  `${dayAndTime(at, zoneOf(notice), notice.at)} (${zoneOf(notice)})`;

const localText = (localTime: unknown, notice: Notice): string =>
  localDayAndTime(String(localTime), toLocalTime(notice.at, zoneOf(notice)));

/** @returns null for a freeze without an end. */
export function endInNotice(notice: Notice): string | null {
  const end = notice.freeze?.['end'] ?? null;
  return end === null ? null : `${localText(end, notice)} (${zoneOf(notice)})`;
}

export const untilOf = (notice: Notice): string =>
  `until ${endInNotice(notice) ?? 'somebody removes the freeze'}`;

export const startInNotice = (notice: Notice): string => localText(notice.freeze?.['start'], notice);

export const spanOf = (notice: Notice): string => `from ${startInNotice(notice)} ${untilOf(notice)}`;

export const lastsWords = (notice: Notice): string | null =>
  notice.freeze && `The freeze lasts ${untilOf(notice)}.`;

export function hasBegun(notice: Notice): boolean {
  const start = notice.freeze?.['start'];
  return typeof start === 'string' && toInstant(start, zoneOf(notice), 'start') <= notice.at;
}

/** Whether it is about the exemption of a deployment. */
export const isOfDeployment = ({ exemption }: Notice): boolean =>
  exemption !== null && 'environment' in exemption;

/** How long an exemption lasts, for which commit. @param can `can` or `could`. */
export function untilExpiry(can: string, notice: Notice): string | null {
  const { expires_at: at, any_head, sha, run_id }: Record<string, unknown> = notice.exemption ?? {};
  if (typeof at !== 'string') return null;
  const until = timeOf(new Date(at), notice);
  if (isOfDeployment(notice)) {
    const what = typeof sha === 'string' ? `One run of ${sha.slice(0, 7)}` : `Run ${String(run_id)}`;
    return `${what} ${can} deploy until ${until}.`;
  }
  return `The pull request ${can} merge until ${until}${any_head === true ? '' : ', unless somebody pushes a new commit'}.`;
}

/** What a freeze is about, if that is not everything. */
export function scopeOf({ freeze }: Notice): (string | null)[] {
  const listOf = (field: string): unknown[] => (Array.isArray(freeze?.[field]) ? freeze[field] : []);
  const [matching, except] = ['matching_conditions', 'exclude_conditions'].map(
    (field) => listOf(field) as ConditionInput[],
  ) as [ConditionInput[], ConditionInput[]];
  return [
    matching.length > 0 ? `Only pull requests that match: ${inOneLine(matching)}` : null,
    except.length > 0 ? `Except pull requests that match: ${inOneLine(except)}` : null,
    freeze && whatIsBlocked(freeze as Holding),
  ];
}

export function changesOf(notice: Notice, place: FrozenPlace): (string | null)[] {
  const before = notice.details['scheduled_freeze_attributes_before'];
  if (notice.freeze === null || typeof before !== 'object' || before === null)
    return [reasonOf(notice, place)];
  const timeText = (time: string) =>
    /^\d{4}-/.test(time) ? `${localText(time, notice)} (${zoneOf(notice)})` : time;
  const changes = changesInEvent(before, notice.freeze);
  const shown = changes.filter(({ name }) => !place.isPublic || name !== 'Reason');
  return [
    ...shown.map((change) => whatChanged({ details: [change] }, timeText)),
    changes.some(({ name }) => name === 'Reason') ? null : reasonOf(notice, place),
  ];
}

/** `a deployment of acme/web to production`. */
export const deploymentOf = (
  { details }: Pick<Notice, 'details'>,
  { name }: Pick<FrozenPlace, 'name'>,
): string => `a deployment of ${name} to ${noticeWordsOf(details['environment'], 'an environment')}`;

export function revisionOf({ details: { workflow, ref, sha } }: Notice): string | null {
  const words = [workflow, ref, typeof sha === 'string' ? sha.slice(0, 7) : sha].filter(
    (each) => typeof each === 'string' && each !== '',
  );
  return words.length > 0 ? words.join(', ') : null;
}

/** A text or a list of texts, inside a sentence. */
export const noticeWordsOf = (value: unknown, otherwise: string): string =>
  (Array.isArray(value) ? value.map(String).join(', ') : typeof value === 'string' ? value : '') || otherwise;
