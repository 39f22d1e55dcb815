/**
 * Suggests names for a misspelled one, the nearest first, as a sentence.
 * @param word at most some tens of characters.
 */
export function suggestNames(word: string, names: readonly string[]): string {
  const meant = nearNames(word, names);
  const list = (meant.length > 0 ? meant : ranked(word, names).map(({ name }) => name))
    .slice(0, 3)
    .map((name) => `\`${name}\``);
  if (meant.length > 0) return `Did you mean ${list.join(' or ')}?`;
  return `The nearest are ${list.join(', ')}; \`holdfast conditions attributes\` lists all`;
}

/**
 * The names with one or two typos of difference, the nearest first; none if all names are far away.
 * @param word at most some tens of characters. @param most how many typos of difference.
 */
export const nearNames = (word: string, names: readonly string[], most = 2): string[] =>
  near(word, names).flatMap(({ name, distance }) => (distance <= most ? name : []));

/** The nearest names of `nearNames`. There are several if they are equally near. */
export function nearestNames(word: string, names: readonly string[]): string[] {
  const [first, ...others] = near(word, names);
  if (!first) return [];
  return [first, ...others.filter(({ distance }) => distance === first.distance)].map(({ name }) => name);
}

function near(word: string, names: readonly string[]) {
  // Most names differ too much in length, which is cheaper to check.
  const candidates = names.filter(
    (name) => Math.abs(name.length - word.length) <= 2 || isPartOf(word.toLowerCase(), name.toLowerCase()),
  );
  return ranked(word, candidates).filter(({ distance }) => distance <= 2);
}

const ranked = (word: string, names: readonly string[]) =>
  names
    .map((name) => ({ name, distance: distanceTo(word.toLowerCase(), name.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance || (one.name < other.name ? -1 : 1));

/** The distance of a name from the text. A word of the name, such as `approved`, counts as near. */
function distanceTo(word: string, name: string): number {
  return Math.min(editDistance(word, name), isPartOf(word, name) ? 2 : Infinity);
}

const isPartOf = (word: string, name: string): boolean =>
  word.length > 2 && (name.startsWith(word) || name.split(/[-_/.]/).includes(word));

/** The Levenshtein distance, where swapped neighbors count once. Both texts are short. */
function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwapped ? before[j - 2]! + 1 : Infinity;
      next.push(Math.min(row[j - 1]! + (isSame ? 0 : 1), row[j]! + 1, next[j - 1]! + 1, swapped));
    }
    before = row;
    row = next;
  }
  return row.at(-1)!;
}
