// Commands of the documentation that somebody pastes, or copies into a pipeline: none hides that something failed.
import { expect, test } from 'vitest';
import { documentAt, pages } from './documents.ts';

type Block = { page: string; text: string };
const written = pages.filter((page) => !page.includes('decisions/') && page !== 'CHANGELOG.md');
const blocks: Block[] = written.flatMap((page) =>
  [...documentAt(page).matchAll(/^( *)```(?:sh|bash|yaml|groovy)\n(.*?)^\1```/gms)].map(([, , text]) => ({
    page,
    // A command is one line.
    text: text!.replaceAll(/ *\\+\n\s*/g, ' '),
  })),
);
const linesOf = (which: RegExp): string[] =>
  blocks.flatMap(({ page, text }) =>
    text
      .split('\n')
      .filter((line) => which.test(line))
      .map((line) => `${page}: ${line.trim()}`),
  );
const without = (lines: string[], allowed: RegExp): string[] => lines.filter((line) => !allowed.test(line));

test('there are blocks of shells', () => expect(blocks.length).toBeGreaterThan(100));

test('an answer of curl that a command reads is none of an error', () => {
  expect(without(linesOf(/(\$\(|\| *|-o )[^|]*curl|curl[^|]*(\||-o [^/-])/), /--fail|-f\b|-D -|-w /)).toEqual(
    [],
  );
});

test('jq fails where there is no answer, if its output is used', () => {
  expect(without(linesOf(/\$\(.*\| *jq|\| *jq .*\|/), /jq -\w*e/)).toEqual([]);
});

test('no failure counts as success', () => {
  expect(linesOf(/\|\| *(true\b|:|exit 0)/)).toEqual([]);
});

test('no address is left out', () => expect(linesOf(/…\/v1/)).toEqual([]));
