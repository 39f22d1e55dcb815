import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { afterAll, describe, expect, test } from 'vitest';
import { gaugesOf } from '../../src/server/metrics/figures.ts';
import { Metrics } from '../../src/metrics.ts';
import { noFigures } from '../support/figures.ts';
import { documentAt } from '../docs/documents.ts';

// The rules of Grafana's dashboard-linter, and that each metric exists. `npm run lint` knows nothing of queries.

const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Source = { type: string; uid: string };
type Target = { expr: string; datasource: Source; legendFormat: string };
type Panel = {
  type: string;
  title: string;
  description: string;
  datasource: Source;
  targets: Target[];
  fieldConfig: { defaults: { unit: string } };
  gridPos: Record<'x' | 'y' | 'w' | 'h', number>;
  id: number;
};
type Variable = Record<'name' | 'label' | 'type' | 'allValue', string> & {
  datasource: Source;
  query: string | { query: string };
  refresh: number;
  multi: boolean;
};
const dashboard = JSON.parse(documentAt('deploy/grafana/holdfast.json')) as {
  uid: string;
  editable: boolean;
  templating: { list: Variable[] };
  panels: Panel[];
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const variables = dashboard.templating.list;
const ours = { type: 'prometheus', uid: '${datasource}' };
const queries = panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }): [string, string] => [title, expr]),
);

/** The names of all series of a process: of a histogram also those of its parts. */
function known(): { names: Set<string>; counters: Set<string> } {
  const defaults = new Registry();
  collectDefaultMetrics({ register: defaults });
  const all = [new Metrics().registry, gaugesOf(noFigures, [], 0), defaults].flatMap((registry) =>
    registry.getMetricsAsArray(),
  ) as unknown as { name: string; type: string }[];
  const parts = (name: string) => ['_bucket', '_count', '_sum'].map((part) => name + part);
  const histograms = all.filter(({ type }) => type === 'histogram').flatMap(({ name }) => parts(name));
  const counters = all.filter(({ type }) => type === 'counter').map(({ name }) => name);
  const gauges = all.filter(({ type }) => type === 'gauge').map(({ name }) => name);
  return {
    // Prometheus makes `up` itself.
    names: new Set([...gauges, ...counters, ...histograms, 'up']),
    counters: new Set([...counters, ...histograms]),
  };
}
const { names, counters } = known();

/** The selectors of a query, such as `up{job="x"}`, by their metrics. */
const selectorsIn = (expr: string): [name: string, labels: string][] =>
  [...expr.matchAll(/([a-z][a-z0-9_]*)\{([^}]*)\}/g)].map(([, name, labels]) => [name!, labels!]);

test('it has a fixed uid, and nobody edits it in place', () => {
  expect(dashboard).toMatchObject({ uid: 'holdfast', editable: false });
});

test('the data source is a variable, and job and instance follow it', () => {
  expect(variables.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance']);
  expect(variables[0]).toMatchObject({ type: 'datasource', query: 'prometheus', label: 'Data source' });
  for (const { name, label, ...variable } of variables.slice(1)) {
    const loaded = { type: 'query', datasource: ours, multi: true, allValue: '.+', refresh: 2 };
    expect(variable).toMatchObject(loaded);
    expect(label.toLowerCase()).toBe(name);
    const { query } = variable.query as { query: string };
    expect(names.has(/label_values\((\w+)/.exec(query)![1]!)).toBe(true);
  }
});

test('each panel says what it shows, in a unit, from that data source', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  for (const { title, description, datasource, targets, fieldConfig } of panels) {
    expect(title && description, title).toMatch(/\.$/);
    expect(fieldConfig.defaults.unit, title).toMatch(/\w/);
    expect(targets.length, title).toBeGreaterThan(0);
    for (const each of [datasource, ...targets.map((target) => target.datasource)])
      expect(each).toEqual(ours);
  }
});

test('no panel covers another', () => {
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(Math.max(...dashboard.panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
});

describe.each(queries)('%s: %s', (_, expr) => {
  test('asks for metrics that there are, of the chosen jobs and instances', () => {
    const selectors = selectorsIn(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const [name, labels] of selectors) {
      expect(names).toContain(name);
      expect(labels).toContain('job=~"$job", instance=~"$instance"');
    }
    // Names without a selector would count every job.
    const named = [...expr.matchAll(/\b(?:holdfast|process|nodejs)_\w+/g)].map(([name]) => name);
    expect(selectors.map(([name]) => name)).toEqual(expect.arrayContaining(named));
  });

  test('takes rates of counters alone, over the interval that Grafana knows', () => {
    const rated = [...expr.matchAll(/rate\((\w+)\{[^}]*\}\[([^\]]+)\]\)/g)];
    for (const [, name, interval] of rated) {
      expect(counters).toContain(name);
      expect(interval).toBe('$__rate_interval');
    }
    const bare = selectorsIn(expr).filter(([name]) => counters.has(name));
    expect(rated.map(([, name]) => name)).toEqual(bare.map(([name]) => name));
  });
});

test('everything that Holdfast counts is on it', () => {
  const shown = queries.flatMap(([, expr]) => selectorsIn(expr).map(([name]) => name));
  for (const { name } of new Metrics().registry.getMetricsAsArray() as unknown as { name: string }[])
    expect(shown.map((each) => each.replace(/_(?:bucket|count|sum)$/, ''))).toContain(name);
});

test('promtool understands every query', ({ skip }) => {
  if (spawnSync('promtool', ['--version']).status !== 0) skip('there is no promtool');
  const rules = queries.map(([, expr], index) => ({
    record: `panel:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
  const file = join(folder, 'rules.json');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const { stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  expect(stdout + stderr).toContain(`SUCCESS: ${rules.length} rules found`);
});
