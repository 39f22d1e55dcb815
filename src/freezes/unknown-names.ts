// Names in freezes that nothing in a repository has.
import { compileNameGlob } from '../conditions/patterns/compile-name-glob.ts';
import { nearNames } from '../conditions/suggest-names.ts';
import { cutText } from '../cut-text.ts';
import type { Freeze } from './freeze.ts';
import { holdsDeployments } from './freeze.ts';

/** The names that a repository has. */
export type NamesIn = { repository: string; names: string[] };

/** The globs, or names, that match none of these names. */
export const globsOfNothing = (globs: string[], names: string[]): string[] =>
  globs.filter((glob) => !names.some(compileNameGlob(glob)));

/** The environments that somebody named for a freeze or plan. What holds all of them names none. */
export const namedEnvironments = (freeze: Pick<Freeze, 'holds' | 'environments'>): string[] =>
  holdsDeployments(freeze) ? (freeze.environments ?? []).filter((glob) => !/^\*+$/.test(glob)) : [];

/** How many sentences there are, how many repositories one names, and how long names are in it. */
const mostSentences = 5;
const mostRepositories = 3;
const longestName = 80;

/** What a sentence about an unknown environment begins with. */
export const noEnvironment = 'No environment of ';

/**
 * Warns of environments that a freeze names and no deployment can have, a sentence for each.
 * @param places the environments of each repository, by its full name.
 */
export function unknownEnvironments(named: string[], places: NamesIn[]): string[] {
  const unknown = named.flatMap((glob) => {
    const without = places.filter(({ names }) => globsOfNothing([glob], names).length > 0);
    return without.length === 0 ? [] : [{ glob, without }];
  });
  const more = unknown.length - mostSentences;
  return [
    ...unknown.slice(0, mostSentences).map(({ glob, without }) => sentence(glob, without)),
    ...(more > 0
      ? [`${noEnvironment}${somewhere(unknown.at(-1)!.without)} matches ${more} more names.`]
      : []),
  ];
}

function sentence(glob: string, without: NamesIn[]): string {
  const [near] = without.flatMap(({ names }) => nearNames(glob.slice(0, longestName), names));
  const meant = near === undefined ? '' : ` Did you mean \`${near}\`?`;
  return `${noEnvironment}${somewhere(without)} matches \`${cutText(glob, longestName)}\`.${meant}`;
}

function somewhere(places: NamesIn[]): string {
  const more = places.length - mostRepositories;
  const named = places.slice(0, mostRepositories).map(({ repository }) => repository);
  return [...named, ...(more > 0 ? [`${more} more repositories`] : [])]
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1');
}
