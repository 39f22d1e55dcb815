// Where a text of SQL has a predicate after WHERE or AND.

type Range = { start: number; end: number };

/** What ends a predicate on the level where it began. */
const endWords = new Set(
  [
    'AND OR WHERE GROUP ORDER HAVING LIMIT OFFSET FETCH RETURNING FOR UNION EXCEPT INTERSECT WINDOW',
    'ON DO SET FROM JOIN LEFT CROSS INNER AS THEN ELSE WHEN END',
  ]
    .join(' ')
    .split(' '),
);

/**
 * @param text as it stands in the source, with its quotes.
 * @param holes where `${…}` puts something in: each is a word that says nothing.
 */
export function predicatesIn(text: string, holes: Range[]): Range[] {
  let plain = text;
  for (const { start, end } of holes)
    plain = plain.slice(0, start) + '$'.repeat(end - start) + plain.slice(end);
  plain = plain.replace(/'[^']*'/g, (quoted, at: number) => (at === 0 ? quoted : '#'.repeat(quoted.length)));
  if (!looksLikeSql(plain)) return [];
  const found: Range[] = [];
  for (const { 0: word, index } of plain.matchAll(/\b(WHERE|AND)\b/g)) {
    // The index that a conflict is about is no filter.
    if (/ON CONFLICT [^]{0,80}\)\s*$/.test(plain.slice(0, index))) continue;
    const range = trimmed(plain, index + word.length, endOf(plain, index + word.length));
    const predicate = plain.slice(range.start, range.end);
    // Their own words would end it too early.
    if (predicate === '' || /\b(BETWEEN|CASE)\b/.test(plain.slice(range.start, range.end + 5))) continue;
    if (word === 'AND' && /\bBETWEEN\s+\S+\s*$/.test(plain.slice(0, index))) continue;
    found.push(range);
  }
  return found;
}

function looksLikeSql(plain: string): boolean {
  if (/\b(SELECT|UPDATE|INSERT INTO|DELETE FROM)\b/.test(plain)) return true;
  return /\b(WHERE|AND)\b/.test(plain) && /\$\d|\$\$\$|::|\bIS (NOT )?NULL\b/.test(plain);
}

function endOf(plain: string, from: number): number {
  let depth = 0;
  let last = '';
  for (const { 0: token, index } of plain.slice(from).matchAll(/[A-Za-z_]+|[(),;`]/g)) {
    if (token === '(') depth++;
    else if (token === ')' && --depth < 0) return from + index;
    else if (depth === 0 && /^[,;`]$/.test(token)) return from + index;
    // IS DISTINCT FROM is an operator.
    else if (depth === 0 && endWords.has(token) && !(token === 'FROM' && last === 'DISTINCT'))
      return from + index;
    last = token;
  }
  // The quote that ends the text.
  return plain.length - 1;
}

function trimmed(plain: string, start: number, end: number): Range {
  const inner = plain.slice(start, end);
  const left = inner.length - inner.trimStart().length;
  return { start: start + left, end: start + left + inner.trim().length };
}
