import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConditionInput } from '../../src/conditions/ast.ts';
import { explain } from '../../src/conditions/explain.ts';
import { neededFacts } from '../../src/conditions/needs.ts';
import { parseConditions } from '../../src/conditions/parse-conditions.ts';
import type { PullRequestFacts } from '../../src/github/pull-requests/pull-request.ts';
import type { LeafVerdict } from '../../src/conditions/judge-leaf.ts';
import { prepared, somePullRequest } from './some-pull-request.ts';

const now = Date.parse('2026-03-01T10:00:00Z');

const match = (conditions: ConditionInput[], facts: PullRequestFacts): LeafVerdict =>
  prepared(conditions).judge(facts, now);

const words = fc.constantFrom('a', 'b', 'c');
const list = fc.uniqueArray(words);
const known = fc.option(list, { nil: undefined });

const pullRequest = fc
  .record({
    draft: fc.boolean(),
    title: words,
    author: fc.option(words),
    base: words,
    label: known,
    files: known,
    scope: list,
  })
  .chain((values) => fc.boolean().map((hasEveryScope) => somePullRequest({ values, hasEveryScope })));

const names = fc.constantFrom('title', 'author', 'base', 'label', 'files', 'scope');
const operators = fc.constantFrom('=', '!=', '~=', '*=', '>=', '<');
const plain = fc.tuple(names, operators, words).map((parts) => parts.join(''));
const counted = fc
  .tuple(names, fc.constantFrom('=', '>', '<='), fc.nat(3))
  .map(([name, operator, n]) => `#${name}${operator}${n}`);
const leaf = fc.oneof(
  plain,
  plain.map((text) => `-${text}`),
  counted,
  fc.constantFrom('draft', '-draft', 'schedule=Sun', 'created-at<1 day ago'),
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

test('an unknown fact decides nothing: a sure verdict agrees with every value of the fact', () => {
  const unsure = pullRequest.map((facts) => ({ ...facts, values: { ...facts.values, files: undefined } }));
  fc.assert(
    fc.property(node, unsure, list, (condition, facts, files) => {
      const before = match([condition], facts);
      if (before === 'unknown') return;
      expect(match([condition], { ...facts, values: { ...facts.values, files } })).toBe(before);
    }),
  );
});

test('the explanation agrees with the verdict, and only the leaves that decide matter', () => {
  fc.assert(
    fc.property(node, pullRequest, (condition, facts) => {
      const matcher = prepared([condition]);
      const { match: explained, reasons } = explain(matcher, facts, now);
      expect(explained).toBe(matcher.judge(facts, now));
      expect(reasons.some(({ decides }) => decides)).toBe(true);
      for (const reason of reasons) expect(reason.why !== null).toBe(reason.match === 'unknown');
    }),
  );
});

test('facts that are not needed are not read', () => {
  fc.assert(
    fc.property(node, pullRequest, (condition, facts) => {
      const parsed = parseConditions([condition], []);
      const needs = neededFacts(parsed.ok ? parsed.conditions : []).facts;
      const { label, files, scope, ...rest } = facts.values;
      const values = {
        ...rest,
        ...(needs.has('labels') ? { label } : {}),
        ...(needs.has('files') ? { files } : {}),
        ...(needs.has('scopes') ? { scope } : {}),
      };
      expect(match([condition], { ...facts, values })).toBe(match([condition], facts));
    }),
  );
});
