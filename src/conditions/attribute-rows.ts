import { attributeNames, attributeOf } from './attributes.ts';
import type { DecidedBy } from './attributes/attribute.ts';
import { needs } from './needs.ts';

/** A row of the table of attributes, for readers. */
type AttributeRow = {
  name: string;
  type: string;
  operators: readonly string[];
  modifiers: readonly string[];
  source: string;
  cost: string;
  description: string;
  /** Who decides its value. */
  decidedBy: string;
};

const deciders: Record<DecidedBy, string> = {
  author: 'its author',
  'author-adds': 'its author, to more',
  'author-clears': 'its author, to no',
  'author-elsewhere': 'its author, elsewhere',
  nobody: 'nobody',
  opening: 'its opening',
  collaborators: 'triage or write access',
  reviewers: 'reviewers',
  ci: 'CI keys',
  pusher: 'who pushes last',
  dependabot: 'Dependabot',
};

/** The table by name, as text for the documentation and the command line. */
export const attributeRows = (): AttributeRow[] =>
  attributeNames.map((name) => {
    const {
      type,
      operators,
      modifiers,
      isCountRequired,
      source,
      needs: need,
      description,
      decidedBy,
    } = attributeOf(name);
    return {
      name: isCountRequired ? `#${name}` : name,
      type,
      operators,
      modifiers: isCountRequired ? ['-'] : modifiers,
      source,
      cost: need ? needs[need] : 'nothing',
      description,
      decidedBy: deciders[decidedBy],
    };
  });
