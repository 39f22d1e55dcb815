import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { ConditionInput, TextTest } from '../conditions/ast.ts';
import { compileNameGlob } from '../conditions/patterns/compile-name-glob.ts';
import { isSameLocalTime } from '../time/local-time.ts';
import type { FreezeWindow } from './freeze-window.ts';
import { day } from '../time/units.ts';

/** What a freeze can hold. */
export const holdables = ['merges', 'deployments'] as const;
type Holdable = (typeof holdables)[number];

/** What happens to a deployment that a freeze holds: it waits for the end, or it is rejected at once. */
export const onDeployments = ['wait', 'reject'] as const;
type OnDeployment = (typeof onDeployments)[number];

/** The fields that clients set. */
export type FreezeFields = Pick<FreezeWindow, 'start' | 'end' | 'timezone'> & {
  reason: string;
  /** Replaces the reason for everybody but admins and insiders. Undefined if it was never set, null if it was removed. */
  publicReason?: string | null;
  matchingConditions: ConditionInput[];
  excludeConditions: ConditionInput[];
  /** What it holds; undefined if never set, which means merges. */
  holds?: Holdable[];
  /** Globs of the environments whose deployments it holds; undefined if never set, which means all. */
  environments?: string[];
  /** What happens to these deployments; undefined if never set, which means that they wait. */
  onDeployment?: OnDeployment;
};

/** A merge freeze of one repository. */
export type Freeze = FreezeFields &
  FreezeWindow & {
    id: string;
    repositoryId: bigint;
    /** Whether it is a pause of the merge queue. */
    isPause?: boolean;
    /** The plan that created it; absent if a person or a key did. */
    planId?: string;
  };

export type FreezeField = keyof FreezeFields;

export type FieldRule = {
  /** Its name in the API, and its column in the database. */
  column: string;
  /** Its value if a request leaves it out. If it is null, a request may also send null. */
  byDefault?: unknown;
  /**
   * How a row says that it was never set: by an empty list, by null, or by a flag (`has_…`) if null means that it was
   * removed. The freeze then has no value, and answers leave it out. A plan always has a value.
   */
  unset?: 'empty' | 'null' | 'flag';
};

/** Every field, in the order of answers. All code that reads or writes whole freezes or plans goes by this table. */
export const freezeFields = {
  reason: { column: 'reason' },
  publicReason: { column: 'public_reason', byDefault: null, unset: 'flag' },
  start: { column: 'start', byDefault: null },
  end: { column: 'end', byDefault: null },
  timezone: { column: 'timezone' },
  matchingConditions: { column: 'matching_conditions', byDefault: [] },
  excludeConditions: { column: 'exclude_conditions', byDefault: [] },
  holds: { column: 'holds', byDefault: ['merges'], unset: 'empty' },
  environments: { column: 'environments', byDefault: ['*'], unset: 'empty' },
  onDeployment: { column: 'on_deployment', byDefault: 'wait', unset: 'null' },
} as const satisfies Record<FreezeField, FieldRule>;

const fieldNames = Object.keys(freezeFields) as FreezeField[];

/** A value for each field, by its name. A loop without lists in between: frequent requests read many freezes. */
export function eachField<Fields>(valueOf: (name: FreezeField, rule: FieldRule) => unknown): Fields {
  const fields: Record<string, unknown> = {};
  for (const name of fieldNames) fields[name] = valueOf(name, freezeFields[name]);
  return fields as Fields;
}

/** Fields by their names in the API. */
export type AttributesOf<Fields> = {
  [
    Name in keyof Fields as Name extends FreezeField ? (typeof freezeFields)[Name]['column'] : never
  ]: Fields[Name];
};

/** The fields in the form of the API and the audit log, without those that were never set. */
export function attributesOf<Fields extends FreezeFields>(fields: Fields): AttributesOf<Fields> {
  const attributes: Record<string, unknown> = {};
  for (const name of fieldNames)
    if (fields[name] !== undefined) attributes[freezeFields[name].column] = fields[name];
  return attributes as AttributesOf<Fields>;
}

/** What events of the audit log say of a freeze. */
export const freezeInEvent = (freeze: Freeze) => ({
  scheduled_freeze_id: freeze.id,
  ...(freeze.planId !== undefined && { freeze_plan_id: freeze.planId }),
  scheduled_freeze_attributes: attributesOf(freeze),
});

/** The fields of a request, not validated yet. `start: null` means now. */
export type Unvalidated<Fields> = Omit<Fields, 'start' | 'matchingConditions' | 'excludeConditions'> & {
  start: string | null;
  matchingConditions: unknown[];
  excludeConditions: unknown[];
};

export type NewFreeze = Unvalidated<FreezeFields>;

/** Whether a freeze can hold pull requests. */
export const holdsMerges = ({ holds }: Pick<Freeze, 'holds'>): boolean => holds?.includes('merges') ?? true;

/** Whether a freeze can hold deployments to an environment. Without a name: to any. */
export const holdsDeployments = (
  { holds, environments }: Pick<Freeze, 'holds' | 'environments'>,
  environment?: string,
): boolean =>
  holds?.includes('deployments') === true &&
  (environment === undefined || (environments ?? ['*']).some((glob) => matchesName(glob, environment)));

/** Compiled globs. Few are different, and each question would compile them again. */
const compiled = new LRUCache<string, TextTest>({ max: 1000 });

function matchesName(glob: string, name: string): boolean {
  const test = compiled.get(glob) ?? compileNameGlob(glob);
  compiled.set(glob, test);
  return test(name);
}

/** A freeze for everybody to read: if it has a public reason, that replaces the reason. */
export const asPublic = <F extends Pick<Freeze, 'reason' | 'publicReason'>>(freeze: F): F => ({
  ...freeze,
  reason: freeze.publicReason ?? freeze.reason,
});

/**
 * Whether two versions of a freeze are equal. Ignores the spelling of times (`10:00:00.000`) and the case of zones.
 * Another wall-clock time or zone is a difference, even if it names the same instant.
 */
export function saysTheSame(one: Freeze, other: Freeze): boolean {
  const { start, end, timezone, ...rest } = attributesOf(one);
  const { start: otherStart, end: otherEnd, timezone: otherZone, ...otherRest } = attributesOf(other);
  return (
    isSameLocalTime(start, otherStart) &&
    (end === null || otherEnd === null ? end === otherEnd : isSameLocalTime(end, otherEnd)) &&
    timezone.toLowerCase() === otherZone.toLowerCase() &&
    isDeepStrictEqual([one.startsAt, one.endsAt, rest], [other.startsAt, other.endsAt, otherRest])
  );
}

/** Milliseconds after which GitHub fails a job that waits. */
export const longestDeploymentWait = 30 * day;

/** Milliseconds after which somebody may have forgotten an ongoing freeze without an end. */
const forgottenAfter = 14 * day;

/** The instant before which forgotten freezes began. */
export const forgottenSince = (now: Date): Date => new Date(now.getTime() - forgottenAfter);

/** Whether somebody may have forgotten a freeze that is not over. */
export const isForgotten = (
  { startsAt, endsAt }: Pick<FreezeWindow, 'startsAt' | 'endsAt'>,
  now: Date,
): boolean => endsAt === null && startsAt <= forgottenSince(now);

/** A freeze with its version, to check that nobody changed it meanwhile. */
export type StoredFreeze = Freeze & { version: number };
