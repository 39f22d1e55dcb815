import { type Attribute, type AttributeType, now, schedule } from './attributes/attribute.ts';
import {
  changeAttributes,
  type CheckAttribute,
  checkAttributes,
  pullRequestAttributes,
  peopleAttributes,
} from './attributes/rows.ts';

/** Every attribute of conditions. The parser, the matcher, the loader and the documentation use this table. */
const attributes = {
  ...pullRequestAttributes,
  ...peopleAttributes,
  ...changeAttributes,
  ...checkAttributes,
  'current-datetime': now(
    'clock',
    'the current time; `=` and `!=` take an interval, the orderings a timestamp',
    'nobody',
  ),
  schedule: schedule('clock', 'whether the current time is in the named days and hours', 'nobody'),
};

export type AttributeName = keyof typeof attributes;

/** The attribute's row, with the row's general type. */
export const attributeOf = (name: AttributeName): Attribute => attributes[name];

export const attributeNames = (Object.keys(attributes) as AttributeName[]).sort();

export const commitFields = {
  author: 'text',
  committer: 'text',
  commit_message: 'text',
  email_author: 'text',
  email_committer: 'text',
  commit_verification_verified: 'boolean',
  date_author: 'timestamp',
  date_committer: 'timestamp',
} as const;

export type CommitField = keyof typeof commitFields;

/** One commit of a pull request, with git's names and addresses. Instants are in milliseconds since the epoch. */
export type CommitFacts = {
  [Field in CommitField]: (typeof commitFields)[Field] extends 'boolean'
    ? boolean
    : (typeof commitFields)[Field] extends 'timestamp'
      ? number | null
      : string | null;
};

type TypeOf<Name extends AttributeName> = (typeof attributes)[Name]['type'];

type ValueOf<Type extends AttributeType> = Type extends 'boolean'
  ? boolean
  : Type extends 'number' | 'count'
    ? number
    : Type extends 'timestamp'
      ? number | null
      : Type extends 'text' | 'choice'
        ? string | null
        : Type extends 'list'
          ? readonly string[]
          : Type extends 'commits'
            ? readonly CommitFacts[]
            : never;

/**
 * What conditions see of one pull request. Timestamps are in milliseconds since the epoch. `#files` and `#commits` are
 * GitHub's counts. `@check-success` and similar names have `@app/name` for checks from Apps. A missing value is unknown.
 */
export type AttributeValues = {
  [Name in Exclude<AttributeName, 'schedule' | 'current-datetime'>]?: ValueOf<TypeOf<Name>>;
} & {
  '#files'?: number;
  '#commits'?: number;
} & { [Name in `@${CheckAttribute}`]?: readonly string[] };

export type ValueName = keyof AttributeValues;

/** All facts about a pull request that conditions read. */
export type ConditionFacts = {
  /** A missing value is unknown. */
  values: AttributeValues;
  /** The lists of which only some values are known. */
  partial?: ReadonlySet<string>;
  /** Why something is unknown, by attribute name, or by team as it was written. */
  whyNotKnown: Readonly<Record<string, string>>;
  /** Whether CI says that the pull request touches every scope. */
  hasEveryScope: boolean;
  /** The stack that it is in, if any: the rules of the stack's base apply to it. */
  stack?: { base: string } | null;
  /** The logins of team members, by team as it was written, in lower case: `@acme/core`. */
  teams: ReadonlyMap<string, ReadonlySet<string>>;
  /** What `searchAhead` found in large values, by what conditions look for. */
  searched?: WeakMap<object, Searched>;
};

/** How far a value was searched, and its first texts that match. */
export type Searched = {
  value: unknown;
  texts: readonly (string | null)[];
  /** How many of its texts were looked at. */
  at: number;
  found: string[];
};
