/** What a comment can ask for, with the words that follow. */
export const verbs = ['status', 'exempt', 'approve', 'deny', 'freeze', 'unfreeze'] as const;
export type Verb = (typeof verbs)[number];

/** A command. @property verb null: nobody knows which one is meant. @property words what follows it, in one line. */
export type Command = { verb: Verb | null; words: string };

/** How each command is written. */
export const usages: Record<Verb, string> = {
  status: '/holdfast status',
  exempt: '/holdfast exempt <reason>',
  approve: '/holdfast approve',
  deny: '/holdfast deny <reason>',
  freeze: '/holdfast freeze <2h or until friday 18:00> <reason>',
  unfreeze: '/holdfast unfreeze <reason>',
};

/** Those that say nothing without words, and the one that has none. */
const needsWords: readonly Verb[] = ['exempt', 'deny', 'freeze', 'unfreeze'];
const takesNone: readonly Verb[] = ['status'];

/**
 * The line of a comment that may be a command: the first one, where it begins with `/holdfast`. Further lines are for
 * people. @returns null for any other comment.
 */
export function commandLine(body: string): string | null {
  const [first = ''] = body.split(/\r\n|[\n\r\u2028\u2029]/, 1);
  if (!/^\/holdfast(?:\s|$)/i.test(first)) return null;
  // What the database cannot keep is never meant.
  return first.toWellFormed().replaceAll('\0', '').trimEnd();
}

/** Reads such a line. What lacks its words, or has some too many, is not understood. */
export function readCommand(line: string): Command {
  const [, name = '', ...rest] = line.trim().split(/\s+/);
  const verb = verbs.find((each) => each === name.toLowerCase()) ?? null;
  const words = unquoted(rest.join(' '));
  const isMeant = verb !== null && (words === '' ? !needsWords.includes(verb) : !takesNone.includes(verb));
  return { verb: isMeant ? verb : null, words };
}

/** Quotes around all of it are those of a shell. */
function unquoted(text: string): string {
  const found = /^(?:"([^"]*)"|'([^']*)'|“([^“”]*)”|‘([^‘’]*)’)$/.exec(text);
  return found ? (found.slice(1).find((inner) => inner !== undefined) ?? '').trim() : text;
}
