import { execFileSync } from 'node:child_process';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../src/explanations/enforcement/finding.ts';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();
beforeAll(async () => {
  acme.github.addUser('rita');
});
afterEach(() => {
  acme.github.comeBack();
  acme.github.faults.clear();
  acme.github.setClockAhead(0);
});

const context = 'holdfast/freeze';
const unprotected = { protect: {} };
const ours = () => ({ context, app: acme.github.app.id });

type Report = { enforced: boolean | 'unknown'; checked_at: string; findings: Finding[] };

async function look(repository: string): Promise<Report> {
  const answer = await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const find = ({ findings }: Report, check: Finding['check'], branch = 'main') =>
  findings.find((each) => each.check === check && (each.branch ?? branch) === branch);
const required = (report: Report, branch?: string) => find(report, 'required_check', branch);

describe('the required check', () => {
  test('is missing, until the call of the remedy is made: then it holds', async () => {
    const { github } = acme;
    const web = await acme.repository('web', [{}], unprotected);
    const before = await look(web);
    expect(before.enforced).toBe(false);
    expect(required(before)).toMatchObject({ state: 'failed', branch: 'main' });
    await acme.freeze(web);
    expect(github.merge(web, 1).merged).toBe(true);

    github.openPullRequest(web, { author: 'ada' });
    await acme.quiet();
    const { remedy } = required(before)!;
    expect(remedy).toContain(`${github.url}/acme/web/settings/rules/new?target=branch`);
    await obey(remedy!);
    const after = await look(web);
    expect(after.enforced).toBe(true);
    expect(required(after)).toEqual({
      check: 'required_check',
      state: 'ok',
      branch: 'main',
      message: 'main requires holdfast/freeze from this App, by the ruleset "holdfast/freeze on main".',
      remedy: null,
    });
    expect(github.merge(web, 2)).toMatchObject({ merged: false });
  });

  test('by classic protection with our App as its source', async () => {
    const { github } = acme;
    const lib = await acme.repository('lib', [{}], { protect: { main: { checks: [ours()] } } });
    const report = await look(lib);
    expect(report.enforced).toBe(true);
    expect(required(report)).toMatchObject({ state: 'ok', remedy: null });
    expect(required(report)!.message).toContain('by branch protection');
    // Nobody else's success counts.
    await acme.freeze(lib);
    github.postStatus(lib, 1, { by: 'bob', state: 'success' });
    expect(github.merge(lib, 1).message).toContain('not set by the expected GitHub apps');
  });

  test('from any source is enforced, and can be forged', async () => {
    const report = await look(await acme.repository('any'));
    expect(report.enforced).toBe(true);
    expect(required(report)).toMatchObject({ state: 'warning' });
    expect(required(report)!.remedy).toContain(`${acme.github.url}/acme/any/settings/branches`);
  });

  test('from another App never counts, even if another rule requires it correctly', async () => {
    const { github } = acme;
    const protect = { main: { checks: [{ context, app: 15_368 }] } };
    const odd = await acme.repository('odd', [{}], { protect });
    github.addRuleset(odd, { checks: [ours()] });
    const report = await look(odd);
    expect(report.enforced).toBe(false);
    expect(required(report)).toMatchObject({ state: 'failed' });
    expect(required(report)!.message).toContain('from the App 15368, by branch protection');
    expect(github.merge(odd, 1)).toMatchObject({ merged: false });
  });

  test('of another name, or for another branch, does not count; case may differ', async () => {
    const { github } = acme;
    const near = await acme.repository('near', [{ base: 'Next' }], {
      protect: { main: ['holdfast/freezer'] },
    });
    github.addRuleset(near, { include: ['refs/heads/next'], checks: [ours()] });
    expect(required(await look(near))).toMatchObject({ state: 'failed' });
    expect(required(await look(near), 'Next')).toMatchObject({ state: 'failed' });
    github.addRuleset(near, { include: ['~ALL'], checks: [{ ...ours(), context: 'Holdfast/Freeze' }] });
    expect((await look(near)).enforced).toBe(true);
  });

  test('by a ruleset of the organization, for the branches and repositories that it names', async () => {
    const { github } = acme;
    const org = await acme.repository('org-a', [{ base: 'release/1' }, { base: 'release/old' }], unprotected);
    const other = await acme.repository('other', [], unprotected);
    const { id } = github.addRuleset('acme', {
      name: 'Release freezes',
      include: ['~DEFAULT_BRANCH', 'refs/heads/release/*'],
      exclude: ['refs/heads/release/old'],
      repositories: { include: ['org-*'] },
      checks: [ours()],
    });
    const report = await look(org);
    const by = 'by the ruleset "Release freezes" of the organization acme';
    // Once, for however many branches it is.
    const reads = github.requests.filter(({ path }) => path === `/repos/acme/org-a/rulesets/${id}`);
    expect(reads).toHaveLength(1);
    for (const branch of ['main', 'release/1']) {
      expect(required(report, branch)).toMatchObject({ state: 'ok' });
      expect(required(report, branch)!.message).toContain(by);
    }
    expect(required(report, 'release/old')).toMatchObject({ state: 'failed' });
    expect(report.enforced).toBe(false);
    expect(find(report, 'bypass')!.remedy).toContain(`${github.url}/organizations/acme/settings/rules/${id}`);
    expect(required(await look(other))).toMatchObject({ state: 'failed' });
    github.deleteRuleset(id);
  });

  test.each(['evaluate', 'disabled'] as const)(
    'by a ruleset set to %s does not count, and the finding says so',
    async (enforcement) => {
      const { github } = acme;
      const trial = await acme.repository(`trial-${enforcement}`, [{}], unprotected);
      const { id } = github.addRuleset(trial, { name: 'Trial', enforcement, checks: [ours()] });
      const report = await look(trial);
      expect(report.enforced).toBe(false);
      const finding = required(report)!;
      expect(finding).toMatchObject({ state: 'failed' });
      expect(finding.message).toContain('the ruleset "Trial" names it but is');
      expect(finding.remedy).toContain(`/acme/trial-${enforcement}/settings/rules/${id}`);
      github.setEnforcement(id, 'active');
      expect((await look(trial)).enforced).toBe(true);
    },
  );
});

/** Makes the call of a remedy as `ada`: its arguments are those that a shell hands to curl. */
async function obey(remedy: string): Promise<void> {
  const command = remedy.slice(remedy.indexOf('curl '));
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const env = { GITHUB_TOKEN: acme.github.addToken('ada') };
  const [, method, , header, url, , body] = execFileSync('/bin/sh', ['-c', script], {
    env,
    encoding: 'utf8',
  }).split('\0');
  const headers = { authorization: header!.replace('Authorization: ', '') };
  expect((await fetch(url!, { method, headers, body })).status).toBe(201);
}

describe('the branches', () => {
  test('the default one, those of open pull requests, and those that current freezes name', async () => {
    const { github } = acme;
    const many = await acme.repository('many', [{ base: 'next' }, { base: 'gone' }], {
      ...unprotected,
      defaultBranch: 'trunk',
    });
    github.closePullRequest(many, 2);
    await acme.freeze(many, {
      matching_conditions: [{ or: ['base=v1', 'label=x'] }, 'base!=v2', 'base~=^v3'],
    });
    await acme.freeze(many, { matching_conditions: [{ not: 'base=v4' }] });
    const removed = await acme.freeze(many, { matching_conditions: ['base=v5'] });
    await acme.remove(many, removed.id);
    const branches = (await look(many)).findings.flatMap(({ check, branch }) =>
      check === 'required_check' ? [branch] : [],
    );
    expect(branches).toEqual(['trunk', 'v1', 'next']);
  });

  test('one that does not exist yet, and one that is the head of another pull request, are warnings', async () => {
    const soft = await acme.repository('soft', [{ head: 'part-1' }, { base: 'part-1' }], {
      protect: { main: { checks: [ours()] } },
    });
    await acme.freeze(soft, { matching_conditions: ['base=release/9'] });
    const report = await look(soft);
    expect(required(report, 'part-1')).toMatchObject({ state: 'warning' });
    expect(required(report, 'release/9')).toMatchObject({ state: 'warning' });
    expect(report.enforced).toBe(true);
  });

  test('a name that would break a shell, a URL or JSON is quoted', async () => {
    const branch = `it's/"$(touch x)"/ü&?#%2F`;
    const hostile = await acme.repository('hostile', [{ base: branch }], {
      protect: { main: { checks: [ours()] } },
    });
    const before = required(await look(hostile), branch)!;
    expect(before).toMatchObject({ state: 'failed' });
    await obey(before.remedy!);
    expect(required(await look(hostile), branch)).toMatchObject({ state: 'ok' });
  });

  test('of more than twenty, the first are checked, and the finding says so', async () => {
    const bases = Array.from({ length: 21 }, (_, index) => ({ base: `release/${index}` }));
    const wide = await acme.repository('wide', bases, unprotected);
    const report = await look(wide);
    expect(report.findings.filter(({ check }) => check === 'required_check')).toHaveLength(20);
    expect(find(report, 'branches')).toMatchObject({ state: 'warning' });
    expect(find(report, 'branches')!.message).toContain('22 branches');
  });
});

describe('who can bypass it', () => {
  test('classic protection: admins, unless it says otherwise', async () => {
    const { github } = acme;
    const gate = await acme.repository('gate', [{}, {}], { protect: { main: { checks: [ours()] } } });
    await acme.freeze(gate);
    expect(find(await look(gate), 'bypass')).toMatchObject({ state: 'warning' });
    expect(() => github.bypassMerge(gate, 1, 'bob')).toThrow('may not be bypassed');
    github.bypassMerge(gate, 1, 'ada');
    github.protect(gate, 'main', { checks: [ours()], enforceAdmins: true });
    expect(find(await look(gate), 'bypass')).toMatchObject({ state: 'ok', remedy: null });
    expect(() => github.bypassMerge(gate, 2, 'ada')).toThrow('may not be bypassed');
    await acme.quiet();
  });

  test('only people who can edit a ruleset see its list: unknown without that, shown with it', async () => {
    const { github } = acme;
    github.addTeam('acme', 'release', ['rita']);
    const ring = await acme.repository('ring', [{}], unprotected);
    const { id } = github.addRuleset(ring, {
      checks: [ours()],
      bypass: [{ actor_type: 'OrganizationAdmin' }, { actor_type: 'RepositoryRole', actor_id: 5 }],
    });
    const hidden = find(await look(ring), 'bypass')!;
    expect(hidden).toMatchObject({ state: 'unknown' });
    expect(hidden.remedy).toContain(`${github.url}/acme/ring/settings/rules/${id}`);

    github.acceptPermissions('acme', { ...github.app.permissions, administration: 'write' });
    await acme.quiet();
    const shown = find(await look(ring), 'bypass')!;
    expect(shown).toMatchObject({ state: 'warning' });
    expect(shown.message).toMatch(/^Organization owners, repository admins can bypass .* on main/);
    // One more rule that nobody can bypass holds them all.
    github.addRuleset(ring, { name: 'Firm', checks: [ours()] });
    expect(find(await look(ring), 'bypass')!.message).toBe('Nobody can bypass the ruleset "Firm" on main.');
    github.acceptPermissions('acme', github.app.permissions);
    await acme.quiet();
  });
});

describe('merge queues', () => {
  test('groups wait for the check, too; without the permission they would wait forever', async () => {
    const { github } = acme;
    const { merge_queues: _, ...fewer } = github.app.permissions;
    const train = await acme.repository('train', [{}], { protect: { main: { checks: [ours()] } } });
    expect(find(await look(train), 'merge_queue')).toBeUndefined();
    github.enableMergeQueue(train, 'main');
    expect(find(await look(train), 'merge_queue')).toMatchObject({ state: 'ok', branch: 'main' });
    github.protect(train, 'main', []);
    expect(find(await look(train), 'merge_queue')).toMatchObject({ state: 'failed' });
    github.acceptPermissions('acme', fewer);
    await acme.quiet();
    expect(find(await look(train), 'merge_queue')).toMatchObject({ state: 'unknown' });
    github.acceptPermissions('acme', github.app.permissions);
    await acme.quiet();
  });

  test('without the event merge_group the queue stalls', async () => {
    const { github } = acme;
    const rail = await acme.repository('rail', [], { protect: { main: { checks: [ours()] } } });
    github.enableMergeQueue(rail, 'main');
    const { events } = github.app;
    github.app.events = events.filter((event) => event !== 'merge_group' && event !== 'label');
    const report = await look(rail);
    github.app.events = events;
    expect(find(report, 'merge_queue')).toMatchObject({ state: 'failed' });
    expect(find(report, 'events')).toMatchObject({ state: 'failed' });
    expect(find(report, 'events')!.message).toContain('does not receive label, merge_group');
  });
});
