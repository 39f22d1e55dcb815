import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { grantDeployments } from '../support/deployments.ts';
import { Visitor, words } from '../support/visitor.ts';

// On a repository's page, people see which deployments wait, and let one go.

const acme = acmeForAll();
const visitors: Record<string, Visitor> = {};
let web: string;
const page = () => `/repos/${web}`;
const forms = () => `${page()}/deployment_exemptions`;
const see = async (login: string) => words(await visitors[login]!.open(page()));
const send = async (login: string, to: string, fields: Record<string, string>) => {
  const answer = await visitors[login]!.send(`${forms()}${to}`, fields);
  await acme.quiet();
  return answer;
};
const deploy = async (sha?: string) => {
  const run = acme.github.runWorkflow(web, { environments: ['production'], ...(sha && { sha }) });
  await acme.quiet();
  return run;
};
const stateOf = ({ id }: { id: number }) => acme.github.jobsOf(web, id)[0];
const firstId = async () =>
  (await acme.call('GET', `/v1${forms()}`, { as: acme.admin })).body.deployment_exemptions[0].id;

beforeAll(async () => {
  for (const login of ['wendy', 'rita']) acme.github.addUser(login);
  await grantDeployments(acme);
  web = await acme.repository('web', [], { roles: { wendy: 'write', rita: 'read' } });
  acme.github.addEnvironment(web, 'production');
  for (const login of ['ada', 'wendy', 'rita']) {
    visitors[login] = new Visitor(acme);
    await visitors[login].signIn(login);
  }
});

test('a writer requests, an admin decides on the page of the repository or of the owner', async () => {
  expect(await see('ada')).not.toContain('Exempt a commit…');
  await acme.freeze(web, { holds: ['deployments'], reason: 'Books are closed' });
  const [run, other] = [await deploy(), await deploy()];
  expect(await see('rita')).not.toContain('Let this one go…');
  expect((await see('wendy')).match(/Let this one go…/g)).toHaveLength(2);
  const ofRun = { environment: 'production', run_id: String(run.id) };
  expect((await send('rita', '', { ...ofRun, reason: 'INC-9' })).status).toBe(403);
  expect((await send('wendy', '', { ...ofRun, reason: '' })).status).toBe(422);
  expect(await send('wendy', '', { ...ofRun, reason: 'INC-9' })).toMatchObject({
    ...{ status: 303, location: `${page()}?said=requested#deployments` },
  });
  const asked = await see('wendy');
  expect(asked).toMatch(new RegExp(`wendy requests an exemption until .*, for run ${run.id} to production`));
  expect(asked.match(/Let this one go…/g)).toHaveLength(1);
  expect(asked).not.toContain('Deny…');
  expect(await see('ada')).toContain('Deny…');
  for (const address of ['/owners/acme/exemptions', '/'])
    expect(words(await visitors['ada']!.open(address))).toContain('acme/web to production');
  const id = await firstId();
  expect((await send('wendy', `/${id}/approve`, {})).status).toBe(403);
  const approved = await send('ada', `/${id}/approve`, { from_list: 'yes' });
  expect(approved.location).toBe(`/owners/acme/exemptions?said=approved&approved=${id}`);
  expect([stateOf(run), stateOf(other)]).toEqual(['in_progress', 'waiting']);
  expect(words(await visitors['ada']!.open('/owners/acme/exemptions'))).toMatch(
    /acme\/web to production Deployed/,
  );
});

test('whoever decides on a request sees which run of which commit goes where, and who started it', async () => {
  const run = acme.github.runWorkflow(web, {
    ...{ environments: ['production'], sha: 'b'.repeat(40), by: 'wendy', ref: 'release' },
    message: 'Refunds reach the card again\n\nThe rest of the message.',
  });
  await acme.quiet();
  await send('wendy', '', { environment: 'production', run_id: String(run.id), reason: 'INC-12' });
  const unknown = { environment: 'Production', sha: 'f'.repeat(40), reason: 'INC-13' };
  await send('wendy', '', unknown);
  for (const path of ['/', '/owners/acme/exemptions', page()]) {
    const seen = await visitors['ada']!.open(path);
    expect(words(seen), path).toMatch(
      new RegExp(
        `Refunds reach the card again Deploy ${run.number} to production commit bbbbbbb of release , started by wendy Blocked by .* INC-12`,
      ),
    );
    expect(words(seen)).not.toContain('The rest of the message');
    expect(words(seen)).toContain('commit fffffff to Production . Holdfast knows no run of it that waits.');
    expect(seen.text).toContain(`/${web}/actions/runs/${run.id}"`);
    expect(seen.text).toContain(`/${web}/commit/${'b'.repeat(40)}"`);
  }
  for (const { id } of (await acme.call('GET', `/v1${forms()}?state=requested`, { as: acme.admin })).body
    .deployment_exemptions)
    await send('wendy', `/${id}/revoke`, { reason: 'Done' });
});

test('the audit log names the freezes and runs of deployments', async () => {
  const runs = acme.github.runsOf(web);
  for (const path of [`${page()}/audit`, '/owners/acme/audit']) {
    const seen = await visitors['ada']!.open(path);
    const text = words(seen);
    expect(text).toMatch(/held a deployment to production .*Freezes: Books are closed/);
    expect(text).toMatch(
      new RegExp(
        `requested an exemption for a deployment to production .*Run: Deploy ${runs.at(-1)!.number}`,
      ),
    );
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/);
    expect(seen.text).toMatch(
      new RegExp(`<a href="${page()}/freezes/[0-9a-f-]{36}"\\s*><bdi>Books are closed</bdi>`),
    );
  }
});

test('an admin exempts a commit ahead of time, and revokes it', async () => {
  const sha = 'd'.repeat(40);
  const ofCommit = { environment: 'production', sha, reason: 'A fix' };
  expect((await send('ada', '', { ...ofCommit, sha: 'ddd' })).status).toBe(422);
  await send('ada', '', ofCommit);
  expect(await see('wendy')).toMatch(
    /Exempt until .*, because A fix . It is for one run of commit ddddddd to production/,
  );
  const id = await firstId();
  expect((await send('ada', `/${id}/revoke`, { reason: 'Wrong one' })).location).toBe(
    `${page()}#deployments`,
  );
  expect(await see('wendy')).not.toContain('one run of commit');
  expect(stateOf(await deploy(sha))).toBe('waiting');
  expect((await visitors['ada']!.open(forms())).status).toBe(303);
});

test('the tab of the owner has what waits in all repositories, and what went out after the thaw', async () => {
  const api = await acme.repository('api', [], { roles: { wendy: 'write' } });
  const secret = await acme.repository('secret', [], { private: true });
  for (const repository of [api, secret]) acme.github.addEnvironment(repository, 'production');
  const list = '/owners/acme/deployments';
  const tab = async (login: string) => words(await visitors[login]!.open(list));
  const end = new Date(acme.clock.now() + 3_600_000).toISOString().slice(0, 19);
  await acme.freeze(api, { holds: ['deployments'], end });
  await acme.freeze(secret, { holds: ['deployments'] });
  const sha = 'e'.repeat(40);
  const run = acme.github.runWorkflow(api, { environments: ['production'], sha, by: 'wendy' });
  acme.github.runWorkflow(secret, { environments: ['production'], by: 'ada' });
  await acme.quiet();
  expect(await tab('ada')).toMatch(/\d deployments wait for the end of a freeze/);
  expect(await tab('ada')).toContain('secret');
  const wendys = await tab('wendy');
  expect(wendys).toMatch(/production api Deploy 1 by wendy main , eeeeeee .* until Sun 1 Mar, 10:00 UTC/);
  expect(wendys).not.toContain('secret');
  expect((await visitors['rita']!.open(list)).status).toBe(403);
  expect((await new Visitor(acme).open(list)).status).toBe(302);
  // The form leads back here, and the decision to the thaw.
  const { text } = await visitors['ada']!.open(list);
  expect(text).toContain(`action="/repos/${api}/deployment_exemptions"`);
  const fields = { environment: 'production', run_id: String(run.id), reason: 'INC-10', from_list: 'yes' };
  const sent = await visitors['ada']!.send(`/repos/${api}/deployment_exemptions`, fields);
  await acme.quiet();
  expect(sent.location).toMatch(/^\/owners\/acme\/deployments\?said=approved&approved=[\w-]+$/);
  expect(words(await visitors['ada']!.open(sent.location))).toContain('Approved. The exemption counts');
  expect(acme.github.jobsOf(api, run.id)).toEqual(['in_progress']);
  const next = acme.github.runWorkflow(api, { environments: ['production'], by: 'wendy' });
  await acme.quiet();
  expect(acme.github.jobsOf(api, next.id)).toEqual(['waiting']);
  acme.github.finishRun(api, run.id);
  await acme.advanceTo(new Date(acme.clock.now() + 3_700_000));
  expect(await tab('wendy')).toMatch(
    /Decided in the last 7 days .*production api Deploy 2 by wendy .* Went out Sun 1 Mar, 10:01 UTC/,
  );
});

test('a freezer who cannot write sees no deployments, and lets none go', async () => {
  const site = await acme.repository('site', [], { roles: { rita: 'read' }, private: true });
  acme.github.addEnvironment(site, 'production');
  const freezers = (names: string[]) =>
    acme.call('PATCH', `/v1/repos/${site}/settings`, { as: acme.admin, body: { freezers: names } });
  expect((await freezers(['rita'])).status).toBe(200);
  await acme.freeze(site, { holds: ['deployments'], reason: 'Migration' });
  const run = acme.github.runWorkflow(site, { environments: ['production'], by: 'wendy' });
  await acme.quiet();
  await acme.call('POST', `/v1/repos/${site}/deployment_exemptions`, {
    ...{ as: acme.admin, body: { environment: 'production', sha: 'c'.repeat(40), reason: 'INC-11' } },
  });
  const token = acme.github.addToken('rita');
  expect((await acme.call('GET', `/v1/repos/${site}/deployments`, { as: token })).status).toBe(403);
  expect((await visitors['rita']!.open('/owners/acme/deployments')).status).toBe(403);
  // The log is theirs to read.
  const [seen] = words(await visitors['rita']!.open(`/repos/${site}`)).split('Latest events');
  expect(seen).toContain('Migration');
  expect(seen).not.toMatch(/Deploy 1|waits now|INC-11|Deployments that wait/);
  expect(words(await visitors['ada']!.open(`/repos/${site}`))).toMatch(/Deploy 1 .*INC-11/);
  const { status } = await visitors['rita']!.send(`/repos/${site}/deployment_exemptions`, {
    ...{ environment: 'production', run_id: String(run.id), reason: 'INC-11' },
  });
  expect(status).toBe(403);
});
