/**
 * The end of a class such as `[a-z]`, `[!a]` or `[]a]` that begins here.
 * @returns the place after its `]`; null if the `[` is a plain character, because a class does not contain `/`.
 */
export function classEnd(glob: string, open: number): number | null {
  let at = open + 1;
  if (glob[at] === '!') at += 1;
  // A `]` at the beginning is a member.
  if (glob[at] === ']') at += 1;
  while (at < glob.length && glob[at] !== '/') {
    if (glob[at] === ']') return at + 1;
    at += 1;
  }
  return null;
}

/** The expression for a class; it never matches `/`. @param members between the brackets, without `!`. */
export function classExpression(members: string, isNegated: boolean): string {
  const characters = [...members];
  const parts: string[] = [];
  for (let at = 0; at < characters.length; at++) {
    const from = characters[at]!;
    const to = characters[at + 2];
    if (characters[at + 1] === '-' && to !== undefined) {
      // A backward range has no members.
      if (from.codePointAt(0)! <= to.codePointAt(0)!) parts.push(...rangeWithoutSlash(from, to));
      at += 2;
    } else if (isNegated || from !== '/') parts.push(quote(from));
  }
  if (isNegated) return `[^/${parts.join('')}]`;
  // RE2 has no empty class, so this class excludes every character.
  return parts.length > 0 ? `[${parts.join('')}]` : '[^\\x{0}-\\x{10FFFF}]';
}

const slash = 0x2f;

function rangeWithoutSlash(from: string, to: string): string[] {
  const [low, high] = [from.codePointAt(0)!, to.codePointAt(0)!];
  const range = (one: number, other: number) => (one > other ? [] : [`${point(one)}-${point(other)}`]);
  if (low > slash || high < slash) return range(low, high);
  return [...range(low, slash - 1), ...range(slash + 1, high)];
}

const point = (code: number): string => `\\x{${code.toString(16)}}`;
const quote = (character: string): string => point(character.codePointAt(0)!);
