import { LRUCache } from 'lru-cache';
import type { AuthorText } from './ast.ts';

const template = /\{\{\s*author\s*\}\}/;

/** Authors whose text is kept: a compiled pattern may take megabytes. */
const mostKept = 100;

/**
 * Makes something from text, once; or, where the text contains `{{ author }}`, once for each author.
 * @param make gets the text as it stands between the templates, and the login to put there.
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
