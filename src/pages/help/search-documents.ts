import MiniSearch, { type Query } from 'minisearch';
import type { HelpDocument } from './render-document.ts';

/** A section that answers a question. */
type SearchResult = {
  /** Of the document. */
  name: string;
  title: string;
  heading: string;
  anchor: string;
  /** Some words of the section, around those that were looked for. */
  excerpt: string;
};

/** Finds sections by words, best first. */
export type Search = (question: string) => SearchResult[];

/** More words than this are nobody's question. */
const mostWords = 12;
const mostFound = 10;
/** How much less the last document of the menu weighs than the first one. */
const lessAtTheEnd = 0.5;

type Entry = { id: number; heading: string; place: string; text: string };

/**
 * Reads all sections once, in pieces, so that other work goes on. Sections with all words of a question come before
 * those with some.
 * @param documents what more people want first: it weighs more.
 */
export async function searchDocuments(documents: readonly HelpDocument[]): Promise<Search> {
  const places = documents.flatMap((document, position) =>
    document.sections.map((section, index) => ({
      document,
      section,
      parent: parentOf(document, index),
      weight: (section.depth === 1 ? 2 : 1) * (1 - (lessAtTheEnd * position) / documents.length),
    })),
  );
  const index = new MiniSearch<Entry>({
    fields: ['heading', 'place', 'text'],
    tokenize: wordsOf,
    searchOptions: {
      tokenize: wordsOf,
      boost: { heading: 8, place: 3 },
      boostDocument: (id) => places[id as number]!.weight,
      prefix: (word) => word.length > 3,
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
    },
  });
  await index.addAllAsync(
    places.map(({ document, section, parent }, id) => ({
      id,
      heading: section.heading,
      place: `${document.title} ${parent}`,
      text: section.text,
    })),
  );
  return (question) => {
    const words = wordsOf(question).slice(0, mostWords);
    const ask = (combineWith: 'AND' | 'OR') =>
      index.search({ combineWith, queries: words.map(orAlike) }).map(({ id }) => id as number);
    const withAll = ask('AND');
    // Most of the time goes into words that match loosely: they are looked up again only where more is wanted.
    const ids = withAll.length >= mostFound ? withAll : [...new Set([...withAll, ...ask('OR')])];
    return ids.slice(0, mostFound).map((id) => {
      const { document, section } = places[id]!;
      const { heading, anchor, text } = section;
      return { name: document.name, title: document.title, heading, anchor, excerpt: excerpt(text, words) };
    });
  };
}

/** The heading that a section stands under; empty for a section right under the title. */
function parentOf({ sections }: HelpDocument, index: number): string {
  const { depth } = sections[index]!;
  const parent = sections.slice(0, index).findLast((section) => section.depth < depth);
  return parent && parent.depth > 1 ? parent.heading : '';
}

function wordsOf(text: string): string[] {
  const plain = asOneWord.reduce(
    (result, [pattern, word]) => result.replace(pattern, word),
    text.toLowerCase(),
  );
  return plain.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '' && !tooCommon.has(word));
}

/** A word, or with less weight one that means much the same. */
function orAlike(word: string): Query {
  const others = alike.flatMap((group) =>
    group.includes(word) ? group.filter((each) => each !== word) : [],
  );
  if (others.length === 0) return word;
  const exact = { prefix: false, fuzzy: false as const, boostTerm: () => 0.3 };
  return { combineWith: 'OR', queries: [word, { combineWith: 'OR', queries: others, ...exact }] };
}

/** Characters of an excerpt, and how many of them come before the first word that was looked for. */
const excerptLength = 220;
const before = 60;

function excerpt(text: string, words: string[]): string {
  const plain = text.toLowerCase();
  const hits = words.map((word) => plain.indexOf(word)).filter((at) => at >= 0);
  const near = Math.max(0, Math.min(...hits, plain.length) - before);
  const from = hits.length === 0 || near === 0 ? 0 : text.indexOf(' ', near) + 1;
  const to = from + excerptLength >= text.length ? text.length : text.lastIndexOf(' ', from + excerptLength);
  return `${from > 0 ? '… ' : ''}${text.slice(from, Math.max(to, from))}${to < text.length ? ' …' : ''}`;
}

// What people type, and what the documents call it. Add a word here when somebody looked for something and did not
// find it; test/pages/help/search.test.ts has the questions that must be answered.

/** Words that mean much the same to somebody who searches: each finds the others, with less weight. */
const alike: readonly (readonly string[])[] = [
  ['docker', 'podman', 'container', 'compose', 'kubernetes', 'helm', 'k8s'],
  ['organization', 'organisation', 'org', 'owner', 'account'],
  ['whole', 'entire', 'all', 'every', 'everything'],
  ['monitor', 'monitoring', 'health', 'healthcheck', 'doctor', 'probe'],
  ['metrics', 'prometheus', 'grafana', 'alert', 'alerts', 'alerting', 'scrape'],
  ['backup', 'restore', 'copy', 'snapshot', 'disaster'],
  ['upgrade', 'upgrading', 'update', 'updating', 'version'],
  ['downgrade', 'rollback', 'revert'],
  ['phone', 'mobile', 'iphone', 'android', 'tablet'],
  ['down', 'outage', 'crash', 'unavailable', 'offline', 'failure'],
  ['terraform', 'provider', 'mergify', 'client', 'clients'],
  ['move', 'migrate', 'migration', 'export', 'import'],
  ['queue', 'group'],
  ['install', 'setup', 'deploy', 'installation'],
  ['emergency', 'incident', 'now'],
  ['exempt', 'exemption', 'exemptions', 'bypass', 'override', 'exception', 'through'],
  ['recurring', 'repeat', 'repeats', 'schedule', 'plan', 'plans', 'cron', 'weekly', 'calendar'],
  ['slack', 'email', 'mail', 'notify', 'notification', 'notifications', 'teams'],
  ['token', 'key', 'keys', 'credential', 'credentials', 'password'],
  ['permission', 'permissions', 'role', 'admin', 'rights'],
  ['scale', 'scaling', 'replica', 'replicas', 'several', 'cluster', 'availability'],
  ['cancel', 'delete', 'remove', 'end', 'unfreeze', 'thaw'],
  ['enterprise', 'ghes'],
  ['configuration', 'config', 'settings', 'setting', 'environment', 'variable', 'variables', 'option'],
  ['ci', 'pipeline', 'pipelines', 'actions', 'jenkins', 'gitlab'],
  ['error', 'errors', 'problem', 'troubleshooting', 'message'],
  ['working', 'work', 'works', 'fails', 'failed', 'broken'],
  ['postgres', 'postgresql', 'database', 'pglite'],
  ['secret', 'secrets', 'rotate', 'rotation', 'rotating'],
];

/** Written as two words or as one. */
const asOneWord: readonly (readonly [RegExp, string])[] = [
  [/\bback(?:ing|ed)?[ -]ups?\b/g, 'backup'],
  [/\bset(?:ting)?[ -]up\b/g, 'setup'],
  [/\broll(?:ing)?[ -]back\b/g, 'rollback'],
  [/\bhealth[ -]checks?\b/g, 'healthcheck'],
  [/\btime[ -]zones?\b/g, 'timezone'],
  [/\bthru\b/g, 'through'],
];

/** Words that say nothing about what is looked for. */
const tooCommon: ReadonlySet<string> = new Set(
  'a an and are as at be by can do does for from how i if in is it me my of on or that the this to use we what when where which why will with you your'.split(
    ' ',
  ),
);
