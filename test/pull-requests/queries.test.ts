import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { githubSchema } from '../../sandbox/graphql/schema.ts';
import * as queries from '../../src/pull-requests/queries.ts';

const texts = Object.entries(queries).filter(([name]) => name.endsWith('Query')) as [string, string][];

test('there are queries to look at', () => {
  expect(texts.length).toBeGreaterThanOrEqual(3);
});

test.each(texts)('%s is one that GitHub takes', (_name, text) => {
  expect(validate(githubSchema(), parse(text))).toEqual([]);
});
