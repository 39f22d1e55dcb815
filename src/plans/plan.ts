// `plans/` makes freezes of many repositories, once or again and again: the rule of a plan, what it matches, and
// keeping its freezes ahead of time. `source/` follows calendars. What a freeze is stands in `freezes/`.
import { attributesOf, type FreezeFields, type Unvalidated } from '../freezes/freeze.ts';
import type { Schedule } from './occurrences.ts';
import type { SourceWindow } from './source/source-window.ts';

/** Which events of which calendar a plan follows. @property titles globs of their titles; null for all of them. */
export type SourceInput = { url: string; titles: string[] | null };

/** A calendar that a plan follows, and what we know of it. Times are ISO 8601. */
export type Source = SourceInput & {
  /** The last good copy of its events. */
  windows: SourceWindow[];
  /** When it was last read without an error, and when it was last read as a whole: if nothing changed, it is not. */
  readAt: string;
  readWholeAt: string;
  /** Why it could not be read since, in a sentence. */
  error: string | null;
  /** Since when none of its coming events are there any more; absent while there are some. */
  doubtedAt?: string | null;
  /** What it said of its version. */
  etag: string | null;
  lastModified: string | null;
};

/** A plan creates a freeze for each matching repository and each occurrence, with the fields of the plan. */
export type Plan = Required<FreezeFields> &
  Schedule & {
    id: string;
    accountId: bigint;
    name: string;
    /** Globs of the owner's repository names. */
    repositories: { include: string[]; exclude: string[] };
    /** Null if it follows no calendar. If it does, its `start` and `end` mean nothing, and `recurrence` is null. */
    source: Source | null;
  };

/** A plan from a request, not validated yet, whose calendar was read. `start: null` means now. */
export type ReadInput = Unvalidated<Omit<Plan, 'id' | 'accountId'>>;
/** The same before its calendar was read. */
export type PlanInput = Omit<ReadInput, 'source'> & { source: SourceInput | null };

type OwnFields = Record<'name' | 'repositories' | 'recurrence', unknown>;
type SharedFields = Record<'reason' | 'public_reason' | 'start' | 'end' | 'timezone', unknown>;

/** Puts the fields that only a plan has among those of a freeze, as requests and answers do. */
export function inOrderOfPlan<Own extends OwnFields, Shared extends SharedFields>(own: Own, shared: Shared) {
  const { name, repositories, recurrence } = own;
  const { reason, public_reason, start, end, timezone, ...rest } = shared;
  const all = { name, reason, public_reason, repositories, start, end, timezone, recurrence, ...rest };
  return all as Pick<Own, keyof OwnFields> & Shared;
}

/**
 * A plan in the form of the audit log and the API, without its id. If it follows a calendar, it has no times of its own.
 * @param showsUrl whether the address of the calendar is shown, which may be a secret. Everybody sees its host.
 */
export function attributesOfPlan(plan: Omit<Plan, 'id' | 'accountId'>, showsUrl = false) {
  const attributes = inOrderOfPlan(plan, attributesOf(plan));
  if (!plan.source) return attributes;
  const { url, titles } = plan.source;
  const source = { url: showsUrl ? url : hostOfCalendar(url), titles };
  return { ...attributes, start: null, end: null, source };
}

/** The host of a calendar's address. */
export const hostOfCalendar = (url: string): string => new URL(url).host;
