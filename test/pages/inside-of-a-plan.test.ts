import { beforeAll, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { grantDeployments } from '../support/deployments.ts';
import { Visitor, words } from '../support/visitor.ts';

// Where a freeze of a public repository is not enforced, its progress and its plan say so to insiders only. For others,
// GitHub is not even asked.

const acme = acmeForAll();
let paths: Record<'progress of the plan' | 'progress of the freeze' | 'page of the plan', string>;

beforeAll(async () => {
  const { github, call, admin: as, quiet } = acme;
  await grantDeployments(acme);
  for (const login of ['rita', 'wendy', 'fred', 'anna']) github.addUser(login);
  const roles = { wendy: 'write', fred: 'read', anna: 'admin', rita: 'read' } as const;
  const open = await acme.repository('open', [{}], { protect: {}, roles });
  // Freezes are switched off there.
  const off = await acme.repository('open-off', [{}], { protect: {}, roles });
  await acme.setProducts(off, []);
  github.addEnvironment(open, 'production', { ours: false });
  for (const repository of [open, off])
    await call('PATCH', `/v1/repos/${repository}/settings`, { as, body: { freezers: ['fred'] } });
  const holds = { holds: ['merges', 'deployments'], environments: ['production'], timezone: 'UTC' };
  const plan = await call('POST', '/v1/freeze_plans/acme', {
    as,
    body: { name: 'All', reason: 'All', repositories: { include: ['open*'] }, start: null, ...holds },
  });
  expect(plan.status, plan.text).toBe(201);
  const freeze = await acme.freeze(open, holds);
  await quiet();
  paths = {
    'progress of the plan': `/owners/acme/progress?plan=${plan.body.id}`,
    'progress of the freeze': `/owners/acme/progress?freeze=${freeze.id}`,
    'page of the plan': `/owners/acme/plans/${plan.body.id}`,
  };
});

/** What tells of weak spots. */
const weak = /not enforced|not stopped|cannot tell|rule is not enabled|such environment|known|asking|off in/i;
/** Requests about what GitHub enforces. */
const looks = () =>
  acme.github.requests.filter(({ path }) => /\/environments|\/rules|\/branches|hook\/config/.test(path))
    .length;

async function visitorFor(login: string | null) {
  const visitor = new Visitor(acme);
  if (login) await visitor.signIn(login);
  return async (page: keyof typeof paths) => {
    const seen = await visitor.open(paths[page]);
    expect(seen.status).toBe(200);
    return words(seen);
  };
}

test.each([null, 'rita'])('an outsider (%s) reads nothing of it', async (login) => {
  const open = await visitorFor(login);
  const before = looks();
  for (const page of Object.keys(paths) as (keyof typeof paths)[]) {
    const text = await open(page);
    expect(text).toMatch(/1 pull request blocked/);
    expect(text).toContain('Merges are blocked; deployments to production wait.');
    expect([page, weak.exec(text)?.[0]]).toEqual([page, undefined]);
  }
  expect(looks()).toBe(before);
});

test.each(['wendy', 'fred', 'anna', 'ada'])('an insider (%s) reads all of it', async (login) => {
  const open = await visitorFor(login);
  await vi.waitFor(async () => expect(await open('progress of the plan')).not.toContain('Asking'));
  const ofPlan = await open('progress of the plan');
  expect(ofPlan).toContain('The rule is not enabled: open ( production )');
  expect(ofPlan).toMatch(/Not enforced: open(-off)? , open(-off)? /);
  const ofFreeze = await open('progress of the freeze');
  expect(ofFreeze).toContain('Deployments to production are not stopped: no environment has the rule.');
  expect(ofFreeze).toContain('Not enforced: open');
  const page = await open('page of the plan');
  expect(page).toContain('2 not enforced');
  expect(page).toContain('Freezes are switched off in acme/open-off');
});
