import { nearNames } from '../../conditions/suggest-names.ts';
import { asCode } from '../../github/markdown.ts';

/** The commands that a comment can contain. */
export const verbs = ['status', 'exempt', 'approve', 'deny', 'freeze', 'unfreeze'] as const;
export type Verb = (typeof verbs)[number];

/** The syntax of each command. */
export const usages: Record<Verb, string> = {
  status: '/holdfast status',
  exempt: '/holdfast exempt <reason>',
  approve: '/holdfast approve [<commit>]',
  deny: '/holdfast deny <reason>',
  freeze: '/holdfast freeze [deployments or both] <2h or until friday 18:00> <reason>',
  unfreeze: '/holdfast unfreeze <reason>',
};

const usageText = ['Holdfast knows these commands, each on a line of its own:', '']
  .concat(Object.values(usages).map((usage) => `- ${asCode(usage)}`))
  .join('\n');

/** Longer names are no typos of a command. */
const longestName = 20;

/** The answer to an unknown command line: the command that may be meant, and all. */
export function unknownCommand(line: string): string {
  const [, name = ''] = line.trim().split(/\s+/);
  const meant = meantVerb(name, verbs);
  return meant === null ? usageText : `Did you mean ${asCode(usages[meant])}?\n\n${usageText}`;
}

/** The command that a misspelled name means; null for the name of one, and for one that is far from all. */
function meantVerb<Known extends string>(name: string, known: readonly Known[]): Known | null {
  const [near] = nearNames(name.slice(0, longestName), known) as Known[];
  return near === undefined || near === name.toLowerCase() ? null : near;
}

const needsWords: readonly SlackVerb[] = ['freeze', 'extend', 'unfreeze', 'exempt', 'deny', 'notify'];
const takesNoWords: readonly SlackVerb[] = ['status', 'unlink'];

const isMeant = (verb: SlackVerb, words: string): boolean =>
  words === '' ? !needsWords.includes(verb) : !takesNoWords.includes(verb);

/**
 * The command line of a comment: the first line that begins with `/holdfast`, perhaps after blanks, as GitHub renders it.
 * Quotations, code and what GitHub does not show are no commands. Other lines are for people.
 * @returns null for any other comment.
 */
export function commandLine(body: string): string | null {
  let fence: string | null = null;
  for (const line of body.replace(/<!--[^]*?(?:-->|$)/g, '').split(/\r\n|[\n\r\u2028\u2029]/)) {
    const [, mark = null, more = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence === null) fence = mark;
    else if (mark?.startsWith(fence) && more.trim() === '') fence = null;
    if (fence !== null || !/^ {0,3}\/holdfast(?:\s|$)/i.test(line)) continue;
    // No command contains what the database cannot store.
    return line.toWellFormed().replaceAll('\0', '').trim();
  }
  return null;
}

/**
 * Reads a command line. A command with missing or extra words counts as unknown.
 * @returns words the text after it, in one line; verb null if the command is unknown.
 */
export function readCommand(line: string): { verb: Verb | null; words: string } {
  const [, name = '', ...rest] = line.trim().split(/\s+/);
  const verb = verbs.find((each) => each === name.toLowerCase()) ?? null;
  const words = unquoted(rest.join(' '));
  return { verb: verb !== null && isMeant(verb, words) ? verb : null, words };
}

/** Removes quotes around the whole text, which people know from a shell. */
function unquoted(text: string): string {
  const found = /^(?:"([^"]*)"|'([^']*)'|“([^“”]*)”|‘([^‘’]*)’)$/.exec(text);
  return found ? (found.slice(1).find((inner) => inner !== undefined) ?? '').trim() : text;
}

/** The commands in Slack: those of comments, with what they are about, and some about Slack. */
export const slackUsages = {
  status: '/holdfast status [repository, pull request, plan or all]',
  freeze: '/holdfast freeze <repository or all> [deployments or both] <2h or until friday 18:00> <reason>',
  extend: '/holdfast extend <repository, plan or all> <1h or until friday 18:00>',
  unfreeze: '/holdfast unfreeze <repository, plan or all> <reason>',
  exempt: '/holdfast exempt <pull request> <reason>',
  approve: '/holdfast approve <pull request> [reason]',
  deny: '/holdfast deny <pull request> <reason>',
  subscribe: '/holdfast subscribe <owner> [repositories]',
  unsubscribe: '/holdfast unsubscribe [owner]',
  notify: '/holdfast notify <on or off>',
  unlink: '/holdfast unlink',
  help: '/holdfast help',
} as const;
export type SlackVerb = keyof typeof slackUsages;

/** What a command is about. The owner is null where the command names none. */
export type ChatTarget =
  | { kind: 'all'; owner: string | null }
  /** @property named the name or the id of a plan. */
  | { kind: 'plan'; owner: string | null; named: string }
  /** @property globs names of repositories, or patterns. */
  | { kind: 'repositories'; owner: string | null; globs: string[] }
  | { kind: 'pull-request'; owner: string | null; repository: string; number: number };

/** A command. @property words what stands after the target, in one line. */
type SlackCommand = { verb: SlackVerb; target: ChatTarget | null; words: string };

/** The kinds of targets that a command takes; null in the list: none is needed. The others take none. */
const targetsOf: Partial<Record<SlackVerb, (ChatTarget['kind'] | null)[]>> = {
  status: ['all', 'plan', 'repositories', 'pull-request', null],
  freeze: ['all', 'repositories'],
  extend: ['all', 'plan', 'repositories'],
  unfreeze: ['all', 'plan', 'repositories'],
  exempt: ['pull-request'],
  approve: ['pull-request'],
  deny: ['pull-request'],
};

/** Slack sends these three characters as entities. */
const plain = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/**
 * Reads the text after `/holdfast`. A command with missing or extra words counts as unknown.
 * @returns null if it is unknown; an empty text asks for help.
 */
export function readSlackCommand(text: string): SlackCommand | null {
  const line = plain(text.toWellFormed().replaceAll('\0', ''))
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .trim();
  const [, name = '', rest = ''] = /^(\S*) ?(.*)$/.exec(line)!;
  const verb = name === '' ? 'help' : name.toLowerCase();
  if (!isVerb(verb)) return null;
  const kinds = targetsOf[verb];
  const found = kinds && rest !== '' ? readTarget(rest) : { target: null, words: rest };
  if (!found || !(kinds ?? [null]).includes(found.target?.kind ?? null)) return null;
  const words = unquoted(found.words);
  return isMeant(verb, words) ? { verb, target: found.target, words } : null;
}

/** The usage of the command that a misspelled text after `/holdfast` means; null if it means none. */
export function meantUsage(text: string): string | null {
  const [name = ''] = text.trim().split(/\s+/);
  const meant = meantVerb(name, Object.keys(slackUsages) as SlackVerb[]);
  return meant && slackUsages[meant];
}

const isVerb = (name: string): name is SlackVerb => Object.hasOwn(slackUsages, name);

const login = '[a-z\\d](?:[a-z\\d_-]{0,98})';
const pullRequest = new RegExp(
  `^(?:(${login})/)?([\\w.-]{1,100})#(\\d{1,9})$|^<?https?://[^/\\s]+/(${login})/([\\w.-]{1,100})/pull/(\\d{1,9})[^\\s]*$`,
  'i',
);
const named = new RegExp(`^(?:(${login})/)?([^/\\s]{1,200})$`, 'i');

/** The target at the start of a text, and the rest. @returns null if there is none. */
function readTarget(text: string): { target: ChatTarget; words: string } | null {
  const asPlan =
    /^(?:([a-z\d][\w-]*)\/)?plan[ :](?:"([^"]+)"|“([^”]+)”|'([^']+)'|‘([^’]+)’|(\S+)) ?(.*)$/i.exec(text);
  if (asPlan) {
    const [, owner = null, ...quoted] = asPlan;
    const name = quoted.slice(0, 5).find((each) => each !== undefined)!;
    return { target: { kind: 'plan', owner, named: name.trim() }, words: asPlan[7]! };
  }
  const [, first = '', words = ''] = /^(\S*) ?(.*)$/.exec(text.replace(/,\s+/g, ','))!;
  const found = pullRequest.exec(first);
  if (found) {
    const [, owner, name, number, otherOwner, otherName, otherNumber] = found;
    const target = {
      kind: 'pull-request',
      owner: owner ?? otherOwner ?? null,
      repository: (name ?? otherName)!,
      number: Number(number ?? otherNumber),
    } as const;
    return { target, words };
  }
  if (first.toLowerCase() === 'all') return { target: { kind: 'all', owner: null }, words };
  const parts = first.split(',').filter(Boolean);
  const read = parts.map((part) => named.exec(part));
  if (parts.length === 0 || read.some((each) => each === null)) return null;
  const owners = new Set(read.flatMap((each) => each![1]?.toLowerCase() ?? []));
  if (owners.size > 1) return null;
  const owner = read.find((each) => each![1])?.[1] ?? null;
  const globs = read.map((each) => each![2]!);
  if (owner !== null && globs.length === 1 && globs[0] === '*')
    return { target: { kind: 'all', owner }, words };
  return { target: { kind: 'repositories', owner, globs }, words };
}
