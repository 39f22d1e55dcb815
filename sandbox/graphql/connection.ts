import type { GraphQLResolveInfo } from 'graphql';
import { refusal } from './refusal.ts';

export interface ConnectionArguments {
  first?: number | null;
  last?: number | null;
  after?: string | null;
  before?: string | null;
}

const most = 100;

/**
 * A page of a connection, under GitHub's rules for `first` and `last`. Cursors hold the item's key, not its
 * position, so items that come or go between pages do not make other items repeat or vanish.
 */
export function connection<T>(
  items: T[],
  args: ConnectionArguments,
  info: GraphQLResolveInfo,
  toNode: (item: T) => unknown,
  /** Rising along `items`; default the position. */
  key: (item: T, index: number) => number = (_, index) => index,
) {
  const name = info.fieldName;
  const { first = null, last = null } = args;
  refuseBounds(name, first, last);
  const keyed = items.map((item, index) => ({ item, key: key(item, index) }));
  const after = args.after ? readCursor(args.after) : -Infinity;
  const before = args.before ? readCursor(args.before) : Infinity;
  const between = keyed.filter((each) => each.key > after && each.key < before);
  let slice = first === null ? between : between.slice(0, first);
  if (last !== null) slice = last === 0 ? [] : slice.slice(-last);
  const [start, end] = [slice[0], slice.at(-1)];
  return {
    totalCount: items.length,
    pageInfo: {
      startCursor: start ? cursor(start.key) : null,
      endCursor: end ? cursor(end.key) : null,
      hasNextPage: end !== undefined && keyed.some((each) => each.key > end.key),
      hasPreviousPage: start !== undefined && keyed.some((each) => each.key < start.key),
    },
    nodes: () => slice.map(({ item }) => toNode(item)),
    edges: () => slice.map((each) => ({ cursor: cursor(each.key), node: toNode(each.item) })),
  };
}

function refuseBounds(name: string, first: number | null, last: number | null): void {
  if (first === null && last === null) {
    throw refusal(
      'MISSING_PAGINATION_BOUNDARIES',
      `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`,
    );
  }
  for (const [bound, value] of Object.entries({ first, last })) {
    if (value === null) continue;
    if (value < 0) {
      throw refusal(
        'EXCESSIVE_PAGINATION',
        `\`${bound}\` on the \`${name}\` connection cannot be less than zero.`,
      );
    }
    if (value > most) {
      throw refusal(
        'EXCESSIVE_PAGINATION',
        `Requesting ${value} records on the \`${name}\` connection exceeds the \`${bound}\` limit of ${most} records.`,
      );
    }
  }
}

function cursor(key: number): string {
  return Buffer.from(`cursor:v2:${key}`).toString('base64');
}

function readCursor(text: string): number {
  const [, key] = /^cursor:v2:(-?\d+(?:\.\d+)?)$/.exec(Buffer.from(text, 'base64').toString()) ?? [];
  if (key === undefined) {
    throw refusal('INVALID_CURSOR_ARGUMENTS', `\`${text}\` does not appear to be a valid cursor.`);
  }
  return Number(key);
}
