import type { GraphQLResolveInfo } from 'graphql';
import { accountNode } from './account-node.ts';
import { connection, type ConnectionArguments } from './connection.ts';
import { refusal } from './refusal.ts';
import type { World } from '../state/world.ts';

export type SearchArguments = ConnectionArguments & { type: string; query: string };

/** Whether each word of a query begins a word of one of the texts. */
export function matches(query: string, ...texts: (string | null)[]): boolean {
  const wordsOf = (text: string | null) => (text ?? '').toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const has = texts.flatMap(wordsOf);
  return wordsOf(query).every((word) => has.some((each) => each.startsWith(word)));
}

/** What the sandbox knows of GitHub's search syntax. */
const qualifiers = ['type:user', 'in:login', 'in:name'];

/** Searches all people of GitHub. Words are looked for in logins and names, as the qualifiers say. */
export function searchPeople(
  world: World,
  { type, query, ...args }: SearchArguments,
  info: GraphQLResolveInfo,
) {
  const parts = query.split(/\s+/).filter((part) => part !== '');
  const used = parts.filter((part) => part.includes(':'));
  if (type !== 'USER' || used.some((each) => !qualifiers.includes(each)) || !used.includes('type:user'))
    throw refusal('SANDBOX_UNKNOWN_FIELD', `The sandbox GitHub cannot search ${type} for ${query}`);
  const words = parts.filter((part) => !part.includes(':')).join(' ');
  const isIn = (place: string) =>
    used.includes(`in:${place}`) || !used.some((each) => each.startsWith('in:'));
  const found = [...world.accounts.values()].filter(
    (each) =>
      each.type === 'User' &&
      words !== '' &&
      matches(words, isIn('login') ? each.login : null, isIn('name') ? each.name : null),
  );
  return {
    __typename: 'SearchResultItemConnection',
    userCount: found.length,
    ...connection(found, args, info, accountNode),
  };
}
