// What GitHub says of itself judges what the stories recorded: see CONTRIBUTING.md.
import { describe, expect, test } from 'vitest';
import type { RecordedExchange, RecordedWebhook } from '../support/record-github.ts';
import { description, names } from './description.ts';
import { exceptions } from './exceptions.ts';
import { faultsOfAnswer, faultsOfInstants, faultsOfRequest, routeOf } from './judge-exchange.ts';
import { faultsOfPermissions } from './judge-permissions.ts';
import { faultsOfQuery, operationOf } from './judge-query.ts';
import * as known from './known-faults.ts';
import { exchanges, queries, webhooks } from './recordings.ts';

const [github, ...servers] = names.map(description);
const used = new Set<RegExp>();

/** Fails with each fault that no exception is for, once. */
function expectNone(subject: string, faults: string[]): void {
  const left = [...new Set(faults)].filter((fault) => {
    const row = exceptions.find(({ matches }) => matches.test(`${subject}: ${fault}`));
    if (row) used.add(row.matches);
    return !row;
  });
  if (left.length > 0) throw new Error(left.map((fault) => `${subject}: ${fault}`).join('\n'));
}

const grouped = <Line>(lines: Line[], nameOf: (line: Line) => string): [string, Line[]][] =>
  Object.entries(Object.groupBy(lines, nameOf) as Record<string, Line[]>).sort(([one], [other]) =>
    one.localeCompare(other),
  );

const byRoute = grouped(exchanges, (exchange) => routeOf(github!, exchange));

test('something is recorded', () => {
  expect([exchanges.length, queries.length, webhooks.length].map((count) => count > 0)).toEqual([
    true,
    true,
    true,
  ]);
});

describe('the judges see', () => {
  const expected = (fault: string | null) => (fault === null ? [] : [fault]);
  test.each(known.requests)('a request %#', (exchange, fault) => {
    expect(faultsOfRequest(github!, exchange)).toEqual(expected(fault));
  });
  test.each(known.answers)('an answer %#', (exchange, fault) => {
    expect(faultsOfAnswer(github!, exchange)).toEqual(expected(fault));
  });
  test.each(known.permitted)('a permission %#', (exchange, fault) => {
    expect(faultsOfPermissions(routeOf(github!, exchange), exchange)).toEqual(expected(fault));
  });
  test.each(known.texts)('a text of GraphQL %#', (exchange, fault) => {
    const faults = faultsOfQuery(exchange);
    if (fault === null) expect(faults).toEqual([]);
    else expect(faults).toContainEqual(expect.stringContaining(fault));
  });
});

describe.each([github!, ...servers])('$name takes what is sent', (described) => {
  test.each(byRoute)('%s', (route, lines) => {
    expectNone(
      `request ${route} at ${described.name}`,
      lines.flatMap((line) => faultsOfRequest(described, line)),
    );
  });
});

describe('answers are GitHub’s', () => {
  test.each(grouped(exchanges, (line) => `${routeOf(github!, line)}, ${line.status}`))(
    '%s',
    (route, lines) => {
      expectNone(
        `answer of ${route}`,
        lines.flatMap((line) => faultsOfAnswer(github!, line)),
      );
    },
  );
});

describe('the permissions of tokens suffice', () => {
  const isOfInstallation = ({ caller }: RecordedExchange) => caller === 'installation';
  test.each(
    byRoute
      .map(([route, lines]) => [route, lines.filter(isOfInstallation)] as const)
      .filter(([, lines]) => lines.length > 0),
  )('%s', (route, lines) => {
    expectNone(
      `permissions of ${route}`,
      lines.flatMap((line) => faultsOfPermissions(route, line)),
    );
  });
});

describe('queries of GraphQL are valid, cheap and permitted', () => {
  test.each(grouped(queries, operationOf))('%s', (operation, lines) => {
    expectNone(`query ${operation}`, lines.flatMap(faultsOfQuery));
  });
});

describe('webhooks are GitHub’s', () => {
  const actionOf = ({ payload }: RecordedWebhook) => (payload as { action?: string }).action;
  const nameOf = (line: RecordedWebhook) => [line.event, actionOf(line)].filter(Boolean).join('.');
  test.each(grouped(webhooks, nameOf))('%s', (name, lines) => {
    expectNone(
      `webhook ${name}`,
      lines.flatMap((line) => {
        const judge = github!.judgeOfWebhook(line.event, actionOf(line));
        return [...(judge?.(line.payload) ?? ['is not described']), ...faultsOfInstants(line.payload)];
      }),
    );
  });
});

// After all others.
test('every exception is needed', () => {
  const idle = exceptions.filter(({ matches }) => !used.has(matches)).map(({ matches }) => String(matches));
  expect(idle, 'Remove these rows from exceptions.ts, or record all stories').toEqual([]);
});
