import { LRUCache } from 'lru-cache';
import type { AuthorText } from './ast.ts';

const template = /\{\{\s*author\s*\}\}/;

/** For how many authors results are cached. A compiled pattern may take megabytes. */
const mostKept = 100;

/**
 * Builds a value from text once, or once for each author if the text contains `{{ author }}`.
 * @param make gets the texts between the templates, and the login to insert.
 */
export function inEachAuthorsWords<Made>(
  text: string,
  make: (parts: string[], author: string) => Made,
): AuthorText<Made> {
  const parts = text.split(template);
  if (parts.length === 1) return { usesAuthor: false, value: make(parts, '') };
  const kept = new LRUCache<string, { made: Made }>({ max: mostKept });
  return {
    usesAuthor: true,
    of(author) {
      const known = kept.get(author);
      if (known) return known.made;
      const made = make(parts, author);
      kept.set(author, { made });
      return made;
    },
  };
}
