import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { between, documentAt, rowsOf } from './documents.ts';

// People search the documentation for what they saw: a message that is quoted there must be one that is sent.

const folder = new URL('../../src/', import.meta.url);
const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('generated'))
  .map((path) => readFileSync(new URL(path, folder), 'utf8'))
  .join('\n');

/** The fixed parts of a quoted message: what is between the names that it is filled with. */
const fixedParts = (message: string): string[] =>
  message
    .split(/…| N\.$/)
    .map((part) => part.trim())
    .filter((part) => part.length > 3);

const notInSource = (messages: string[]): string[] =>
  messages.flatMap(fixedParts).filter((part) => !source.includes(part));

test('the messages that README helps with are sent', () => {
  const section = documentAt('README.md').split('## Troubleshooting')[1]!;
  const quoted = [...section.matchAll(/\*\*`([^`]+)`\*\*/g)].map((match) => match[1]!);
  expect(quoted.length).toBeGreaterThan(10);
  expect(notInSource(quoted)).toEqual([]);
});

test('the log messages that are explained are logged', () => {
  const section = between(documentAt('docs/operating.md'), '## What is in the log', '\n## ');
  const quoted = rowsOf(section).flatMap(([cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map((m) => m[1]!));
  expect(quoted.length).toBeGreaterThan(8);
  expect(notInSource(quoted)).toEqual([]);
});
