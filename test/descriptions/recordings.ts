// What the stories recorded: see test/support/record-github.ts.
import { globSync, readFileSync } from 'node:fs';
import type { RecordedExchange, RecordedLine, RecordedWebhook } from '../support/record-github.ts';

const folder = process.env['GITHUB_RECORDINGS'];
if (!folder)
  throw new Error(
    'Nothing is recorded. Set GITHUB_RECORDINGS to an empty folder, run `npm run test:postgresql` or any stories with it, then this.',
  );

const lines = globSync(`${folder}/*.jsonl`).flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedLine),
);

/** Requests of GraphQL are apart, because one route has them all. */
export const exchanges = lines.filter(
  (line): line is RecordedExchange => line.kind === 'exchange' && pathOf(line) !== '/graphql',
);
export const queries = lines.filter(
  (line): line is RecordedExchange => line.kind === 'exchange' && pathOf(line) === '/graphql',
);
export const webhooks = lines.filter((line): line is RecordedWebhook => line.kind === 'webhook');

export function pathOf({ path }: RecordedExchange): string {
  return path.split('?')[0]!;
}
