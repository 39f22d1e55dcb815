import { attributeNames, attributeOf } from './attributes.ts';
import { needs } from './needs.ts';

/** A row of the table of attributes, for readers. */
export type AttributeRow = {
  name: string;
  type: string;
  operators: readonly string[];
  modifiers: readonly string[];
  source: string;
  cost: string;
  description: string;
};

/** The whole table, by name. Only text: what the documents and the command line print. */
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
    } = attributeOf(name);
    return {
      name: isCountRequired ? `#${name}` : name,
      type,
      operators,
      modifiers: isCountRequired ? ['-'] : modifiers,
      source,
      cost: need ? needs[need] : 'nothing',
      description,
    };
  });
