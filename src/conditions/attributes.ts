import type { Attribute, AttributeType } from './attributes/attribute.ts';
import { changeAttributes } from './attributes/of-changes.ts';
import { type CheckAttribute, checkAttributes } from './attributes/of-checks.ts';
import { peopleAttributes } from './attributes/of-people.ts';
import { pullRequestAttributes } from './attributes/of-pull-request.ts';
import { timeAttributes } from './attributes/of-time.ts';
import type { CommitFacts } from './commit-fields.ts';

/** Every attribute of conditions. The parser, the matcher, the loader and the documentation use this table. */
export const attributes = {
  ...pullRequestAttributes,
  ...peopleAttributes,
  ...changeAttributes,
  ...checkAttributes,
  ...timeAttributes,
};

export type AttributeName = keyof typeof attributes;

/** The attribute's row, with the row's general type. */
export const attributeOf = (name: AttributeName): Attribute => attributes[name];

export const attributeNames = (Object.keys(attributes) as AttributeName[]).sort();

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
