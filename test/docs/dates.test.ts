// An example that somebody pastes freezes at once if its date is past. So what asks for something has dates that are worked
// out when it is pasted (`fri 18:00`, `date`), or that are far away.
import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/api/openapi.ts';
import { documentAt, pages } from './documents.ts';

type Operations = Record<string, { requestBody?: { content: Record<string, unknown> } }>;
/** Dates after it are far away. */
const farAway = '2090';
const near = (text: string): string[] =>
  [...text.matchAll(/\b20\d\d-[01]\d(-[0-3]\d)?/g)].map(([date]) => date).filter((date) => date < farAway);

const written = pages.filter((page) => !page.includes('decisions/') && page !== 'CHANGELOG.md');
const requests = written.flatMap((page) => {
  const text = documentAt(page);
  const blocks = [...text.matchAll(/```(?:sh|bash|yaml|groovy)\n(.*?)```/gs)].map(([, block]) => block!);
  const options = [...text.matchAll(/^\| `-.*/gm)].map(([row]) => row!);
  return [...blocks, ...options].flatMap((each) => each.split('\n')).map((line) => ({ page, line }));
});

/** Where a date says what is shown or judged, it may be past. */
const looksBack = /--since|--month|"now":/;

test('no command has a date that can be past', () => {
  expect(requests.length).toBeGreaterThan(500);
  const dated = requests.filter(({ line }) => near(line).length > 0 && !looksBack.test(line));
  expect(dated).toEqual([]);
});

test('no body of docs/plans.md has a date that can be past, unless it repeats', () => {
  const bodies = [...documentAt('docs/plans.md').matchAll(/```json\n(.*?)```/gs)].map(([, text]) =>
    JSON.parse(text!),
  );
  const plans = bodies.filter((body) => 'start' in body);
  expect(plans.length).toBeGreaterThan(3);
  expect(plans.filter((plan) => !plan.recurrence)).toEqual([]);
});

test('no example of a body in the OpenAPI document has one', () => {
  const document = openApiDocument('https://holdfast.example') as { paths: Record<string, Operations> };
  const bodies = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map(({ requestBody }) => requestBody),
  );
  const examples = bodies.flatMap((body) => Object.values(body?.content ?? {}));
  expect(examples.length).toBeGreaterThan(20);
  expect(near(JSON.stringify(examples))).toEqual([]);
});
