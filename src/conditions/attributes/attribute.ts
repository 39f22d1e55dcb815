import type { Operator } from '../ast.ts';
import type { Need } from '../needs.ts';

/** The prefix of a name: `-` for "not", `#` for "how many" or "how long". */
type Modifier = '-' | '#';

/** The type of an attribute's values. A `count` only works with `#`. */
export type AttributeType =
  'boolean' | 'number' | 'text' | 'choice' | 'list' | 'count' | 'commits' | 'timestamp' | 'now' | 'schedule';

/** The form of a value to compare with. Where logins are allowed, `team` values are, too. */
export type ValueRule = 'any' | 'branch' | 'login' | 'check' | 'pull request' | readonly string[];

/**
 * Who decides the value. If the author decides it alone, without anybody's consent and with the same change, it guards
 * nothing: no exclusion, and no selection of a freeze.
 */
export type DecidedBy =
  /** The author, at will. */
  | 'author'
  /** The author, who can only add: a change can touch more files, or be opened again later, but it keeps what it has. */
  | 'author-adds'
  /** The author, who can only prevent the merge: a draft or a conflicting pull request does not merge. */
  | 'author-clears'
  /** Nobody while it is open, or the clock. It guards nothing, because the author only has to wait. */
  | 'nobody'
  /**
   * The author, by merging into another branch. The base does not help the author, because another branch is not the
   * frozen one. It guards nothing either, because everybody can choose it.
   */
  | 'author-elsewhere'
  /** The person who opened it, at its opening: one person or one pull request that an admin named. */
  | 'opening'
  /** People with triage or write access. The author may be one of them, if the repository's admins allow that. */
  | 'collaborators'
  /** Reviewers with write access, who cannot approve their own pull requests. */
  | 'reviewers'
  /** Holders of a CI key. */
  | 'ci'
  /** The person or bot that pushes last, as GitHub knows them. */
  | 'pusher'
  /** Dependabot, whose pull request has only its own commits. */
  | 'dependabot';

/** One row of the table: everything that the parser, the matcher, the loader and the documents know about a name. */
export type Attribute<Type extends AttributeType = AttributeType> = {
  type: Type;
  operators: readonly Operator[];
  modifiers: readonly Modifier[];
  /** `required`: the name means nothing without `#`. */
  isCountRequired: boolean;
  /** `#` asks for GitHub's own number, and not for the length of the list. */
  hasOwnCount: boolean;
  rule: ValueRule;
  /** What to load to read it; null if it comes with every pull request. */
  needs: Need | null;
  /** The source of its value, in the source's own words. */
  source: string;
  description: string;
  decidedBy: DecidedBy;
};

export const ranges = ['>=', '<=', '>', '<'] as const;
export const allOperators = ['=', '!=', '~=', '*=', ...ranges] as const;
export const comparisons = ['=', '!=', ...ranges] as const;

type Details = Partial<Pick<Attribute, 'operators' | 'rule' | 'needs' | 'hasOwnCount'>>;

const row = <Type extends AttributeType>(
  type: Type,
  operators: readonly Operator[],
  modifiers: readonly Modifier[],
  [source, description, decidedBy, details]: RowText,
): Attribute<Type> => ({
  type,
  operators,
  modifiers,
  isCountRequired: type === 'count',
  hasOwnCount: false,
  rule: 'any',
  needs: null,
  source,
  description,
  decidedBy,
  ...details,
});

type RowText = [source: string, description: string, decidedBy: DecidedBy, details?: Details];

export const boolean = (...texts: RowText) => row('boolean', [], ['-'], texts);
export const number = (...texts: RowText) => row('number', comparisons, ['-'], texts);
export const text = (...texts: RowText) => row('text', allOperators, ['-', '#'], texts);
export const choice = (...texts: RowText) => row('choice', ['=', '!=', '~='], ['-', '#'], texts);
export const list = (...texts: RowText) => row('list', allOperators, ['-', '#'], texts);
export const count = (...texts: RowText) => row('count', comparisons, ['-', '#'], texts);
export const commitList = (...texts: RowText) => row('commits', allOperators, ['-', '#'], texts);
export const timestamp = (...texts: RowText) => row('timestamp', ranges, [], texts);
export const now = (...texts: RowText) => row('now', comparisons, [], texts);
export const schedule = (...texts: RowText) => row('schedule', ['=', '!='], [], texts);
