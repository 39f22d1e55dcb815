/** The commands that a comment can contain. */
export const verbs = ['status', 'exempt', 'approve', 'deny', 'freeze', 'unfreeze'] as const;
export type Verb = (typeof verbs)[number];

/** A command. @property verb null if the command is unknown. @property words the text after it, in one line. */
export type Command = { verb: Verb | null; words: string };

/** The syntax of each command. */
export const usages: Record<Verb, string> = {
  status: '/holdfast status',
  exempt: '/holdfast exempt <reason>',
  approve: '/holdfast approve [<commit>]',
  deny: '/holdfast deny <reason>',
  freeze: '/holdfast freeze [deployments or both] <2h or until friday 18:00> <reason>',
  unfreeze: '/holdfast unfreeze <reason>',
};

/** Commands that need words, and the one that takes none. */
const needsWords: readonly Verb[] = ['exempt', 'deny', 'freeze', 'unfreeze'];
const takesNone: readonly Verb[] = ['status'];

/**
 * The command line of a comment: the first line, if it begins with `/holdfast`. Other lines are for people.
 * @returns null for any other comment.
 */
export function commandLine(body: string): string | null {
  const [first = ''] = body.split(/\r\n|[\n\r\u2028\u2029]/, 1);
  if (!/^\/holdfast(?:\s|$)/i.test(first)) return null;
  // No command contains what the database cannot store.
  return first.toWellFormed().replaceAll('\0', '').trimEnd();
}

/** Reads a command line. A command with missing or extra words counts as unknown. */
export function readCommand(line: string): Command {
  const [, name = '', ...rest] = line.trim().split(/\s+/);
  const verb = verbs.find((each) => each === name.toLowerCase()) ?? null;
  const words = unquoted(rest.join(' '));
  const isMeant = verb !== null && (words === '' ? !needsWords.includes(verb) : !takesNone.includes(verb));
  return { verb: isMeant ? verb : null, words };
}

/** Removes quotes around the whole text, which people know from a shell. */
export function unquoted(text: string): string {
  const found = /^(?:"([^"]*)"|'([^']*)'|“([^“”]*)”|‘([^‘’]*)’)$/.exec(text);
  return found ? (found.slice(1).find((inner) => inner !== undefined) ?? '').trim() : text;
}
