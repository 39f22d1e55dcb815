import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { gaugesOf } from '../../src/server/metrics/figures.ts';
import { Metrics } from '../../src/metrics.ts';
import { noFigures } from '../support/figures.ts';
import { between, documentAt, rowsOf } from './documents.ts';

const page = documentAt('docs/monitor.md');

/** Every metric of ours, as the registries have it. */
const metrics = [
  ...new Metrics().registry.getMetricsAsArray(),
  ...gaugesOf(noFigures, [], 0).getMetricsAsArray(),
].map((metric) => {
  const { name, help, type, labelNames } = metric as unknown as Record<'name' | 'help' | 'type', string> & {
    labelNames: string[];
  };
  return { name, help, type, labelNames };
});

test('the table of metrics is what the registries have', () => {
  const table = rowsOf(between(page, '<!-- metrics -->', '<!-- /metrics -->'));
  const code = (text: string) => `\`${text}\``;
  expect(table).toEqual(
    metrics.map(({ name, type, labelNames, help }) => [
      ...[code(name), type, labelNames.map(code).join(', '), help],
    ]),
  );
});

test('each has a name that says its unit, and a help text without one of its own', () => {
  for (const { name, type, help } of metrics) {
    expect(name).toMatch(/^holdfast_[a-z_]+$/);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(help).not.toMatch(/\.$|\bms\b|millisecond/);
  }
});

type Alert = { alert: string; expr: string; labels: { severity: string }; annotations: object };
const { groups } = parse(readFileSync('deploy/helm/alerts.yaml', 'utf8')) as { groups: { rules: Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);

test('every alert is explained with its severity, and no other', () => {
  const table = rowsOf(between(page, '<!-- alerts -->', '<!-- /alerts -->'));
  expect(table.map(([name, severity]) => [name, severity])).toEqual(
    alerts.map(({ alert, labels }) => [`\`${alert}\``, labels.severity]),
  );
});

test('alerts ask for metrics that there are', () => {
  // A histogram has its count under a name of its own.
  const names = alerts.flatMap(({ expr }) =>
    (expr.match(/holdfast_\w+/g) ?? []).map((name) => name.replace(/_seconds_count$/, '_seconds')),
  );
  expect(names.length).toBeGreaterThan(3);
  const known = metrics.map(({ name }) => name);
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
  for (const { annotations } of alerts)
    expect(annotations).toEqual({ summary: expect.any(String), description: expect.any(String) });
});
