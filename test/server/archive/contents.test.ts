import { expect, test } from 'vitest';
import { carriedTables, leftTables } from '../../../src/server/archive/contents.ts';
import { documentAt } from '../../docs/documents.ts';

test('of every table it is decided whether an archive holds it', () => {
  const schema = documentAt('prisma/schema.prisma');
  const tables = [...schema.matchAll(/@@map\("(\w+)"\)/g)].map(([, name]) => name!);
  expect([...carriedTables, ...Object.keys(leftTables)].toSorted()).toEqual(tables.toSorted());
});

test('each table stands after those that its rows refer to', () => {
  const models = documentAt('prisma/schema.prisma')
    .split(/^model /m)
    .slice(1);
  const tableOf = new Map(
    models.map((model) => [/^\w+/.exec(model)![0], /@@map\("(\w+)"\)/.exec(model)![1]!]),
  );
  const places = new Map<string, number>(carriedTables.map((name, place) => [name, place]));
  const references = models.flatMap((model) =>
    [...model.matchAll(/^ +\w+ +(\w+)\??.*@relation\(fields/gm)].map(
      ([, to]) => [tableOf.get(/^\w+/.exec(model)![0])!, tableOf.get(to!)!] as const,
    ),
  );
  expect(references.length).toBeGreaterThan(10);
  for (const [from, to] of references.filter(([from]) => places.has(from)))
    expect(places.get(from), `${from} refers to ${to}`).toBeGreaterThan(places.get(to)!);
});
