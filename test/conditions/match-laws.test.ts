import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { matchAll, type Verdict } from '../../src/conditions/match.ts';
import { neededFacts } from '../../src/conditions/needed-facts.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';
import type { PullRequestFacts } from '../../src/pull-requests/pull-request.ts';
import { notKnown, somePullRequest } from './some-pull-request.ts';

function match(conditions: ConditionInput[], facts: PullRequestFacts): Verdict {
  const parsed = parseConditions(conditions, []);
  if (!parsed.ok) throw new Error(parsed.problems[0]!.message);
  return matchAll(parsed.conditions, facts, new Date(0)).match;
}

const words = fc.constantFrom('a', 'b', 'c');
const list = fc.uniqueArray(words);
const fact = fc.option(list).map((value) => (value ? ({ known: true, value } as const) : notKnown('why')));

const pullRequest = fc
  .record({
    isDraft: fc.boolean(),
    title: words,
    author: fc.option(words),
    base: words,
    labels: fact,
    files: fact,
    scopes: fc.record({ names: list, all: fc.boolean() }),
  })
  .map(somePullRequest);

const names = fc.constantFrom('title', 'author', 'base', 'label', 'files', 'scope');
const plain = fc.tuple(names, fc.constantFrom('=', '!=', '~='), words).map((parts) => parts.join(''));
const leaf = fc.oneof(
  plain,
  plain.map((text) => `-${text}`),
  fc.constantFrom('draft', '-draft'),
);
const { node } = fc.letrec<{ node: ConditionInput }>((tie) => {
  const nodes = fc.array(tie('node'), { minLength: 1, maxLength: 3 });
  return {
    node: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.record({ and: nodes }),
      fc.record({ or: nodes }),
      fc.record({ not: tie('node') }),
    ),
  };
});

const law = (
  name: string,
  left: (x: ConditionInput, y: ConditionInput) => ConditionInput,
  right: typeof left,
) =>
  test(name, () => {
    fc.assert(
      fc.property(node, node, pullRequest, (x, y, facts) => {
        expect(match([left(x, y)], facts)).toBe(match([right(x, y)], facts));
      }),
    );
  });

law(
  'not(not(x)) = x',
  (x) => ({ not: { not: x } }),
  (x) => x,
);
law(
  'x and y = y and x',
  (x, y) => ({ and: [x, y] }),
  (x, y) => ({ and: [y, x] }),
);
law(
  'x or y = y or x',
  (x, y) => ({ or: [x, y] }),
  (x, y) => ({ or: [y, x] }),
);
law(
  'x and x = x',
  (x) => ({ and: [x, x] }),
  (x) => x,
);
law(
  'x or (x and y) = x',
  (x, y) => ({ or: [x, { and: [x, y] }] }),
  (x) => x,
);
law(
  'not(x and y) = not(x) or not(y)',
  (x, y) => ({ not: { and: [x, y] } }),
  (x, y) => ({ or: [{ not: x }, { not: y }] }),
);
law(
  'not(x or y) = not(x) and not(y)',
  (x, y) => ({ not: { or: [x, y] } }),
  (x, y) => ({ and: [{ not: x }, { not: y }] }),
);

test('a list is the and of its items', () => {
  fc.assert(
    fc.property(fc.array(node, { minLength: 1, maxLength: 4 }), pullRequest, (nodes, facts) => {
      expect(match(nodes, facts)).toBe(match([{ and: nodes }], facts));
    }),
  );
});

test('-c is not(c), and x!=v is -x=v', () => {
  fc.assert(
    fc.property(plain, pullRequest, (text, facts) => {
      expect(match([`-${text}`], facts)).toBe(match([{ not: text }], facts));
    }),
  );
  fc.assert(
    fc.property(names, words, pullRequest, (name, word, facts) => {
      expect(match([`${name}!=${word}`], facts)).toBe(match([`-${name}=${word}`], facts));
    }),
  );
});

test('what is not known decides nothing: whatever the fact turns out to be agrees with a sure verdict', () => {
  const unsure = pullRequest.map((facts) => ({ ...facts, files: notKnown('why') }));
  fc.assert(
    fc.property(node, unsure, list, (condition, facts, value) => {
      const before = match([condition], facts);
      if (before === 'unknown') return;
      expect(match([condition], { ...facts, files: { known: true, value } })).toBe(before);
    }),
  );
});

test('a fact that is not needed is not read', () => {
  fc.assert(
    fc.property(node, pullRequest, (condition, facts) => {
      const parsed = parseConditions([condition], []);
      const needs = neededFacts(parsed.ok ? parsed.conditions : []);
      const thrifty = {
        ...facts,
        ...(needs.labels ? {} : { labels: notKnown('not asked for') }),
        ...(needs.files ? {} : { files: notKnown('not asked for') }),
        ...(needs.scopes ? {} : { scopes: { names: [], all: false } }),
      };
      expect(match([condition], thrifty)).toBe(match([condition], facts));
    }),
  );
});
