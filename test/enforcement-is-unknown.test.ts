import { afterEach, describe, expect, test } from 'vitest';
import type { Finding } from '../src/explanations/enforcement/finding.ts';
import { acmeForAll } from './support/acme.ts';

// What Holdfast cannot read, or GitHub does not say, is unknown and never fine.

const acme = acmeForAll();
afterEach(async () => {
  acme.github.comeBack();
  acme.github.faults.clear();
  acme.github.setClockAhead(0);
  acme.github.rateLimits.core = 5_000;
  acme.github.acceptPermissions('acme', acme.github.app.permissions);
  await acme.quiet();
});

type Report = { enforced: boolean | 'unknown'; findings: Finding[] };

async function look(repository: string): Promise<Report> {
  const answer = await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const stateOf = ({ findings }: Report, check: Finding['check']) =>
  findings.find((each) => each.check === check)?.state;
const finding = ({ findings }: Report, check: Finding['check']) =>
  findings.find((each) => each.check === check)!;

test('an App without permissions: each finding says so, and none that could not be read is fine', async () => {
  const { github } = acme;
  const vault = await acme.repository('vault', [{}], { private: true });
  github.acceptPermissions('acme', {});
  await acme.quiet();
  const report = await look(vault);
  expect(report.enforced).toBe(false);
  expect(finding(report, 'permissions').message).toContain('Holdfast lacks metadata: read, statuses: write');
  expect(stateOf(report, 'required_check')).toBe('unknown');
  expect(stateOf(report, 'branches')).toBe('unknown');
  expect(finding(report, 'required_check').message).toContain('Holdfast does not have permission to read it');
});

test('without contents, rulesets can only say that it is required, not that it is not', async () => {
  const { github } = acme;
  const safe = await acme.repository('safe', [{}], { private: true, protect: {} });
  const { contents: _, ...fewer } = github.app.permissions;
  github.acceptPermissions('acme', fewer);
  await acme.quiet();
  const report = await look(safe);
  expect(stateOf(report, 'required_check')).toBe('unknown');
  expect(finding(report, 'permissions')).toMatchObject({ state: 'failed' });
  expect(finding(report, 'required_check').message).toContain(
    'Holdfast does not have permission to read it, which takes contents: read (GitHub says "Resource not accessible by integration")',
  );
  github.addRuleset(safe, { checks: [{ context: 'holdfast/freeze', app: github.app.id }] });
  expect(stateOf(await look(safe), 'required_check')).toBe('ok');
});

test('a branch that GitHub does not show may exist', async () => {
  const ghost = await acme.repository('ghost', [], { protect: {} });
  acme.github.faults.add({ kind: 'status', status: 404, match: { path: /\/ghost\/branches\/main$/ } });
  const report = await look(ghost);
  expect(stateOf(report, 'required_check')).toBe('unknown');
  expect(report.enforced).toBe('unknown');
});

test('permissions that only conditions need are a warning', async () => {
  const { github } = acme;
  const plain = await acme.repository('plain');
  const { checks: _, deployments: __, ...fewer } = github.app.permissions;
  github.acceptPermissions('acme', fewer);
  await acme.quiet();
  const report = await look(plain);
  expect(finding(report, 'permissions')).toMatchObject({ state: 'warning' });
  expect(finding(report, 'permissions').message).toContain('lacks checks: read, deployments: read');
  expect(finding(report, 'permissions').remedy).toMatch(
    /^Ask an owner to accept the new permissions at http/,
  );
  expect(report.enforced).toBe(true);
});

describe('GitHub', () => {
  test.each(['502', 'reset'] as const)(
    'is down (%s): nothing is known, and the answer says so',
    async (how) => {
      const down = await acme.repository(`down-${how}`);
      acme.github.goDown(how);
      const report = await look(down);
      expect(report.enforced).toBe('unknown');
      const unknown = [
        'required_check',
        'branches',
        'permissions',
        'events',
        'webhooks',
        'clock',
        'rate_limit',
      ];
      expect(report.findings.filter(({ state }) => state === 'unknown').map(({ check }) => check)).toEqual(
        unknown,
      );
      expect(report.findings.filter(({ state }) => state === 'ok').map(({ check }) => check)).toEqual([
        'product',
      ]);
    },
  );

  test('answers rules with an error: the rest is shown', async () => {
    const part = await acme.repository('part', [], { protect: {} });
    acme.github.faults.add({ kind: 'status', status: 500, match: { path: /\/rules\/branches\// } });
    const report = await look(part);
    expect(report.enforced).toBe('unknown');
    expect(stateOf(report, 'permissions')).toBe('ok');
  });

  test('has suspended the installation', async () => {
    const { github } = acme;
    const idle = await acme.repository('idle');
    github.suspend('acme');
    await acme.quiet();
    const report = await look(idle);
    github.unsuspend('acme');
    await acme.quiet();
    expect(report.enforced).toBe(false);
    expect(finding(report, 'installation').remedy).toMatch(/^Unsuspend it at http/);
    expect(stateOf(report, 'required_check')).toBe('unknown');
  });

  test('has no limits, as GitHub Enterprise Server by default: its 404 says so', async () => {
    const free = await acme.repository('without-limits');
    acme.github.faults.add({ kind: 'status', status: 404, match: { path: /^\/rate_limit$/ } });
    expect(finding(await look(free), 'rate_limit')).toMatchObject({
      state: 'ok',
      message: 'This GitHub does not limit requests.',
    });
  });

  test('limits us: the answer shows what is left, and nothing is asked during the pause', async () => {
    const { github } = acme;
    const busy = await acme.repository('busy');
    expect(stateOf(await look(busy), 'rate_limit')).toBe('ok');
    const left = async () =>
      Number(/(\d+) of 5000 requests/.exec(finding(await look(busy), 'rate_limit').message)![1]);
    while ((await left()) > 4_900);
    github.rateLimits.core = 5_000 - (await left()) + 8;
    const asked = () => github.requests.filter(({ path }) => path.startsWith('/repos/acme/busy')).length;
    const before = asked();
    const scarce = await look(busy);
    expect(stateOf(scarce, 'rate_limit')).toBe('warning');
    // The rest is for statuses, however often somebody asks.
    expect(asked()).toBe(before);
    expect(finding(scarce, 'required_check').message).toContain('the rest is reserved for statuses');
    expect(scarce.enforced).toBe('unknown');
    github.rateLimits.core = 1;
    const report = await look(busy);
    expect(stateOf(report, 'rate_limit')).toBe('failed');
    expect(finding(report, 'required_check').message).toContain("GitHub's rate limit is used up");
  });
});

test.each([
  [0, 'ok'],
  [1_000, 'ok'],
  [-1_000, 'ok'],
  [4_000, 'warning'],
  [-4_000, 'warning'],
  [12_000, 'warning'],
  [-90_000, 'failed'],
])("a clock that GitHub's is %i ms ahead of is %s", async (ahead, state) => {
  const time = await acme.repository(`time-${ahead}`);
  acme.github.setClockAhead(ahead);
  const report = await look(time);
  expect(stateOf(report, 'clock')).toBe(state);
  if (ahead < -5_000) expect(finding(report, 'clock').message).toContain("ahead of GitHub's");
});

describe('webhooks', () => {
  test('that cannot be delivered fail, with their address; those that were checked later are no warning', async () => {
    const { github } = acme;
    const hooks = await acme.repository('hooks', [{}]);
    expect(stateOf(await look(hooks), 'webhooks')).toBe('ok');
    const url = `${acme.app.url}/api/github/webhooks`;
    github.deliverTo(`${acme.app.url}/nowhere?secret=1`);
    github.label(hooks, 1, 'lost');
    await github.settled();
    const failed = finding(await look(hooks), 'webhooks');
    expect(failed).toMatchObject({ state: 'failed' });
    expect(failed.message).toContain(`to ${acme.app.url}/nowhere, at `);
    expect(failed.message).not.toContain('secret');
    github.deliverTo(url);
    github.label(hooks, 1, 'heard');
    await acme.quiet();
    expect(finding(await look(hooks), 'webhooks')).toMatchObject({ state: 'warning' });
    await acme.advanceTo(new Date(acme.clock.now() + 60_000));
    expect(stateOf(await look(hooks), 'webhooks')).toBe('ok');
  });
});

test('an archived repository is named as archived', async () => {
  const { github } = acme;
  const old = await acme.repository('old');
  github.archive(old);
  await acme.quiet();
  expect(finding(await look(old), 'installation')).toMatchObject({
    state: 'warning',
    remedy: `Unarchive it at ${github.url}/acme/old/settings.`,
  });
});

test('switched off for a repository, nothing is enforced', async () => {
  const off = await acme.repository('off');
  await acme.setProducts(off, []);
  const report = await look(off);
  expect(report.enforced).toBe(false);
  expect(finding(report, 'product').remedy).toContain('PUT /v1/products/acme/off');
});
