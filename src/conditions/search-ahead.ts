import { inSlices } from '../time/slices.ts';
import type { AuthorText, Leaf, TextTest } from './ast.ts';
import type { AttributeValues, ConditionFacts, Searched } from './attributes.ts';
import { matcherOfLeaf, textsFor, valueNameOf } from './judge-leaf.ts';
import type { Matcher } from './match.ts';
import type { FactNeeds } from './needs.ts';

/** How many of the texts that match are noted. Readers see no more. */
export const mostFound = 20;

/** Characters, each as often as its pattern has steps. So many take a few milliseconds at most. */
const little = 100_000;
/** A search of one text that is so much takes tens of milliseconds, and has no smaller parts. */
const long = 2_000_000;

/** The search of a long text. @property condition as it was written. @property author null if it is not known. */
export type LongSearch = { condition: string; author: string | null; text: string };

/**
 * Searches large values for what conditions look for, and notes that with the facts: 500 globs and 3,000 paths take a
 * second. It does so in slices, and whoever judges or explains the facts after it takes no time.
 * @param searchApart does a long search where it keeps nobody waiting; by default, it is done here.
 * @param changed which values are new; by default, all.
 */
export async function searchAhead(
  { matchers = [] }: Pick<FactNeeds, 'matchers'>,
  facts: ConditionFacts,
  searchApart: ((search: LongSearch) => Promise<boolean>) | null = null,
  changed: AttributeValues = facts.values,
): Promise<void> {
  const searches = beginSearches(matchers, facts, changed);
  if (searches.reduce((sum, { effort }) => sum + effort, 0) <= little) return;
  if (searchApart)
    await Promise.all(searches.filter(hasLong).map((search) => searchLong(search, facts, searchApart)));
  facts.searched ??= new WeakMap();
  const { searched: notes } = facts;
  let index = 0;
  await inSlices(() => {
    const { matcher, finds, searched, foundApart } = searches[index]!;
    const { texts, found } = searched;
    const text = texts[searched.at++] ?? null;
    if (text !== null && (foundApart.get(text) ?? finds(text))) found.push(text);
    if (searched.at >= texts.length || found.length >= mostFound) {
      notes.set(matcher, searched);
      index += 1;
    }
    return index < searches.length;
  });
}

/**
 * @property longest characters of its longest text.
 * @property foundApart whether it finds what it looks for in texts that were searched apart.
 */
type Search = {
  leaf: Leaf;
  matcher: object;
  finds: TextTest;
  searched: Searched;
  effort: number;
  longest: number;
  foundApart: Map<string, boolean>;
};

const isLong = (characters: number, { size = 1 }: TextTest): boolean => characters * size > long;
const hasLong = ({ longest, finds }: Search): boolean => isLong(longest, finds);

/** If that fails, the text is searched with the others. */
async function searchLong(
  { leaf, finds, searched: { texts, at }, foundApart }: Search,
  { values: { author = null } }: ConditionFacts,
  searchApart: (search: LongSearch) => Promise<boolean>,
): Promise<void> {
  for (const text of texts.slice(at)) {
    if (text === null || !isLong(text.length, finds) || foundApart.has(text)) continue;
    const found = await searchApart({ condition: leaf.text, author, text }).catch(() => null);
    if (found !== null) foundApart.set(text, found);
  }
}

function beginSearches(
  matchers: readonly Matcher[],
  facts: ConditionFacts,
  changed: AttributeValues,
): Search[] {
  const { values, searched } = facts;
  const author = typeof values.author === 'string' ? values.author : null;
  const beginnings = new Map<Texts, boolean>();
  const sizes = new Map<Texts, Size>();
  return matchers.flatMap(seekersIn).flatMap(({ leaf, matcher }): Search[] => {
    const name = valueNameOf(leaf)!;
    const seen = values[name];
    if (!(name in changed) || seen === undefined || (matcher.usesAuthor && author === null)) return [];
    const { value, texts } = textsFor(leaf, seen);
    const before = searched?.get(matcher);
    if (before?.value === value) return [];
    // A list that GitHub gives in pages begins with what was searched before.
    const isLonger = before && isBeginning(before.texts, texts, beginnings);
    const finds = matcher.usesAuthor ? matcher.of(author!) : matcher.value;
    const { characters, longest } = sizeOf(texts, sizes);
    return [
      {
        leaf,
        matcher,
        finds,
        foundApart: new Map(),
        searched: { value, texts, at: isLonger ? before.at : 0, found: isLonger ? [...before.found] : [] },
        effort: characters * (finds.size || 1),
        longest,
      },
    ];
  });
}

// Hundreds of conditions search the same list of thousands of texts, so what is asked of the list is asked once.
type Texts = Searched['texts'];
type Size = { characters: number; longest: number };

function sizeOf(texts: Texts, known: Map<Texts, Size>): Size {
  const size = known.get(texts) ?? { characters: 0, longest: 0 };
  if (known.has(texts)) return size;
  known.set(texts, size);
  for (const text of texts) {
    size.characters += (text?.length ?? 0) + 1;
    size.longest = Math.max(size.longest, text?.length ?? 0);
  }
  return size;
}

function isBeginning(before: Texts, texts: Texts, known: Map<Texts, boolean>): boolean {
  const is = known.get(before) ?? before.every((text, index) => text === texts[index]);
  known.set(before, is);
  return is;
}

/** The leaves that look for something in texts. */
type Seeker = { leaf: Leaf; matcher: AuthorText<TextTest> };
const seekers = new WeakMap<Matcher, Seeker[]>();

function seekersIn(matcher: Matcher): Seeker[] {
  const found = seekers.get(matcher) ?? leavesOf(matcher).flatMap(seekerOf);
  seekers.set(matcher, found);
  return found;
}

function seekerOf(leaf: Leaf): Seeker[] {
  const matcher = leaf.isCounted ? null : matcherOfLeaf(leaf);
  return matcher ? [{ leaf, matcher }] : [];
}

function leavesOf(matcher: Matcher): Leaf[] {
  if (matcher.kind === 'leaf') return [matcher.leaf];
  return matcher.kind === 'not' ? leavesOf(matcher.node) : matcher.nodes.flatMap(leavesOf);
}
