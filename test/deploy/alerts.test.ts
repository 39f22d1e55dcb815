import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gaugesOf } from '../../src/server/metrics/figures.ts';
import { Metrics } from '../../src/metrics.ts';
import { isWhole } from '../support/amounts.ts';
import { repositoryRoot } from '../support/clean-copy.ts';
import { noFigures } from '../support/figures.ts';

// The alerts, evaluated by Prometheus' own tool (Debian's prometheus).

const rules = join(repositoryRoot, 'deploy/helm/alerts.yaml');
const whyNot = isWhole || spawnSync('promtool', ['--version']).status === 0 ? null : 'there is no promtool';
const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
afterAll(() => rmSync(folder, { recursive: true }));

const promtool = (args: string[], input?: string) => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input });
  return { status, said: stdout + stderr };
};

/** What is told of the alerts that fire after some minutes. @param series their values, one a minute. */
function firing(series: Record<string, string>, minutes: number, alertname: string, expected: object[]) {
  const file = join(folder, 'test.json');
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const eval_time = `${minutes}m`;
  const alert_rule_test = [{ eval_time, alertname, exp_alerts: expected }];
  const tests = [{ interval: '1m', input_series, alert_rule_test }];
  writeFileSync(file, JSON.stringify({ rule_files: [rules], tests }));
  return promtool(['test', 'rules', file]);
}

const well = {
  'up{job="holdfast", instance="web"}': '1x30',
  'up{job="holdfast", instance="worker"}': '1x30',
  'holdfast_scrape_database_up{job="holdfast", instance="web"}': '1x30',
  'holdfast_database_trouble{job="holdfast", instance="web", kind="full"}': '0x30',
  'holdfast_statuses_oldest_waiting_seconds{job="holdfast", instance="web"}': '600x30',
  'holdfast_jobs_oldest_due_seconds{job="holdfast", instance="web", task="sweep"}': '600x30',
  'holdfast_jobs_failing{job="holdfast", instance="web", task="sweep"}': '0x30',
  'holdfast_github_rate_limit_remaining_ratio{job="holdfast", instance="web", installation="7", resource="core"}':
    '0.5x30',
  'holdfast_pull_requests_leaking{job="holdfast", instance="web"}': '0x30',
  'holdfast_clock_ahead_seconds{job="holdfast", instance="web", of="github"}': '0x30',
  // One request in a minute finds a key that is accepted again.
  'holdfast_github_key_refused_seconds{job="holdfast", instance="web"}': '0x9 60 0x19',
  'holdfast_webhooks_undelivered_total{job="holdfast", instance="worker", reason="signature"}': '3x30',
  'holdfast_webhooks_undelivered_total{job="holdfast", instance="worker", reason="other"}': '3+1x30',
  'holdfast_http_request_duration_seconds_count{job="holdfast", instance="web", route="/v1", status="2xx"}':
    '0+600x30',
  'holdfast_http_request_duration_seconds_count{job="holdfast", instance="web", route="/v1", status="5xx"}':
    '0+6x30',
  'holdfast_http_request_duration_seconds_count{job="holdfast", instance="web", route="/readyz", status="5xx"}':
    '0+600x30',
  'holdfast_installations_suspended{job="holdfast", instance="web"}': '0x30',
};
const alerts = [
  'HoldfastDown',
  'HoldfastDatabaseTrouble',
  'HoldfastStatusesOverdue',
  'HoldfastJobsFailing',
  'HoldfastRateLimitLow',
  'HoldfastClockDiffers',
  'HoldfastKeyRefused',
  'HoldfastWebhooksRefused',
  'HoldfastErrors',
  'HoldfastSuspended',
  'HoldfastLeaking',
];

test('promtool takes the file', ({ skip }) => {
  if (whyNot) skip(whyNot);
  const { status, said } = promtool(['check', 'rules', rules]);
  expect(said).toContain('11 rules found');
  expect(status).toBe(0);
});

test.skipIf(whyNot).each(alerts)('all is well: %s is silent', (alert) => {
  const { status, said } = firing(well, 30, alert, []);
  expect(status, said).toBe(0);
});

const critical = { severity: 'critical' };
const warning = { severity: 'warning' };
type Case = { what: string; alert: string; series: Record<string, string>; labels: object; says: string };

const cases: Case[] = [
  {
    what: 'a process is down',
    alert: 'HoldfastDown',
    series: { ...well, 'up{job="holdfast", instance="worker"}': '1 0x29' },
    labels: { ...critical, job: 'holdfast', instance: 'worker' },
    says: 'worker has not answered',
  },
  {
    what: 'the database is down, so its figures are missing',
    alert: 'HoldfastDown',
    series: {
      'up{job="holdfast", instance="web"}': '1x30',
      'holdfast_scrape_database_up{job="holdfast", instance="web"}': '1 0x29',
    },
    labels: { ...critical, job: 'holdfast', instance: 'web' },
    says: 'web has not answered, or had no database',
  },
  {
    what: 'nothing is scraped',
    alert: 'HoldfastDown',
    series: {},
    labels: { ...critical, job: 'holdfast' },
    says: 'Holdfast has not answered',
  },
  {
    what: 'two processes tell of one status that is late',
    alert: 'HoldfastStatusesOverdue',
    series: {
      'holdfast_statuses_oldest_waiting_seconds{job="holdfast", instance="web"}': '600+60x30',
      'holdfast_statuses_oldest_waiting_seconds{job="holdfast", instance="worker"}': '600+60x30',
    },
    labels: { ...critical, job: 'holdfast' },
    says: 'has waited for 40m 0s',
  },
  {
    what: 'no worker runs',
    alert: 'HoldfastStatusesOverdue',
    series: {
      'holdfast_statuses_oldest_waiting_seconds{job="holdfast", instance="web"}': '0x30',
      'holdfast_jobs_oldest_due_seconds{job="holdfast", instance="web", task="sweep"}': '0+60x30',
      'holdfast_jobs_oldest_due_seconds{job="holdfast", instance="web", task="keep-plan"}': '0x30',
    },
    labels: { ...critical, job: 'holdfast' },
    says: 'has waited for 30m 0s',
  },
  {
    what: 'jobs fail',
    alert: 'HoldfastJobsFailing',
    series: { 'holdfast_jobs_failing{job="holdfast", instance="web", task="sweep"}': '3x30' },
    labels: { ...warning, job: 'holdfast', task: 'sweep' },
    says: '3 jobs of the task sweep fail',
  },
  {
    what: 'the rate limit runs out',
    alert: 'HoldfastRateLimitLow',
    series: {
      'holdfast_github_rate_limit_remaining_ratio{job="holdfast", instance="a", installation="7", resource="core"}':
        '0.05x30',
      'holdfast_github_rate_limit_remaining_ratio{job="holdfast", instance="b", installation="7", resource="core"}':
        '0.5x30',
    },
    labels: { ...warning, job: 'holdfast', installation: '7', resource: 'core' },
    says: '5% of the core limit of the installation 7',
  },
  {
    what: 'the clock of one process is behind',
    alert: 'HoldfastClockDiffers',
    series: {
      'holdfast_clock_ahead_seconds{job="holdfast", instance="web", of="github"}': '0x30',
      'holdfast_clock_ahead_seconds{job="holdfast", instance="worker", of="github"}': '-1200x30',
    },
    labels: { ...warning, job: 'holdfast', instance: 'worker', of: 'github' },
    says: 'The clock of worker and that of github differ by 20m 0s',
  },
  {
    what: 'GitHub refuses the key',
    alert: 'HoldfastKeyRefused',
    series: {
      'holdfast_github_key_refused_seconds{job="holdfast", instance="web"}': '0+60x30',
      'holdfast_github_key_refused_seconds{job="holdfast", instance="worker"}': '0+60x30',
    },
    labels: { ...critical, job: 'holdfast' },
    says: 'GitHub has refused the key for 30m 0s',
  },
  {
    what: 'GitHub signs with another secret',
    alert: 'HoldfastWebhooksRefused',
    series: {
      'holdfast_webhooks_undelivered_total{job="holdfast", instance="a", reason="signature"}': '0+1x30',
      'holdfast_webhooks_undelivered_total{job="holdfast", instance="b", reason="signature"}': '0x30',
    },
    labels: { ...critical, job: 'holdfast' },
    says: '15 webhooks had a signature that does not match',
  },
  {
    what: 'a tenth of the requests fail',
    alert: 'HoldfastErrors',
    series: {
      'holdfast_http_request_duration_seconds_count{job="holdfast", route="/v1", status="2xx"}': '0+90x30',
      'holdfast_http_request_duration_seconds_count{job="holdfast", route="/v1", status="5xx"}': '0+10x30',
    },
    labels: { ...warning, job: 'holdfast' },
    says: '100 requests of the last 10 minutes got a 5xx answer',
  },
  {
    what: 'an owner suspends the App',
    alert: 'HoldfastSuspended',
    series: { 'holdfast_installations_suspended{job="holdfast", instance="web"}': '2x30' },
    labels: { ...warning, job: 'holdfast' },
    says: '2 installations are suspended',
  },
  {
    what: 'two processes tell of pull requests that leak',
    alert: 'HoldfastLeaking',
    series: {
      'holdfast_pull_requests_leaking{job="holdfast", instance="web"}': '2x30',
      'holdfast_pull_requests_leaking{job="holdfast", instance="worker"}': '2x30',
    },
    labels: { ...warning, job: 'holdfast' },
    says: 'GitHub would merge 2 pull requests past a freeze',
  },
];

test.skipIf(whyNot).each(cases)(
  '$what: $alert fires once, and says so',
  ({ alert, series, labels, says }) => {
    // promtool prints what it got where that is not what was expected.
    const { said } = firing(series, 30, alert, [{ exp_labels: { ...labels, wrong: 'on purpose' } }]);
    const got = said.slice(said.indexOf('got:'));
    expect(got).toContain(says);
    expect(got.match(/Labels:/g)).toHaveLength(1);
    const named = /Labels:\{(.*?)\}/.exec(got)![1]!.split(', ').toSorted();
    const all = { alertname: alert, ...labels };
    expect(named).toEqual(
      Object.entries(all)
        .map(([name, value]) => `${name}="${value}"`)
        .toSorted(),
    );
  },
);

test('promtool finds nothing wrong with the metrics themselves', async ({ skip }) => {
  if (whyNot) skip(whyNot);
  const { registry } = new Metrics();
  const figures = {
    ...noFigures,
    ...{ statusesWaiting: 1, waitingSince: new Date(0), freezesOngoing: 1, pullRequestsLeaking: 1 },
    jobs: [{ task: 'sweep' as const, waiting: 1, dueSince: new Date(0), failing: 1 }],
  };
  const budget = { installationId: '7', resource: 'core', share: 0.5 };
  const text = (await registry.metrics()) + (await gaugesOf(figures, [budget], 1000).metrics());
  expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, said: '' });
});
