// rel may freeze, and ann decides on exemptions, both without being an admin of anything: by the API, on pages and in
// comments. The roles are given by login and by team.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { forAll } from './support/for-all.ts';
import { type Commenting, startCommenting } from './support/comments.ts';
import { commandLineFor } from './support/command-line.ts';
import { exemptionsOf } from './support/exemptions.ts';
import { Visitor } from './support/visitor.ts';

const acme: Commenting = forAll(() => startCommenting());
const tokens: Record<string, string> = {};
const visitors: Record<string, Visitor> = {};
let web: string;
let count = 0;

beforeAll(async () => {
  const { github } = acme;
  for (const login of ['rel', 'ann', 'tess', 'kid']) {
    github.addUser(login);
    github.setMembership('acme', login, 'member');
    tokens[login] = github.addToken(login, { kind: 'classic', scopes: ['repo'] });
    visitors[login] = new Visitor(acme);
    await visitors[login].signIn(login);
  }
  github.addTeam('acme', 'release', ['tess']);
  github.addTeam('acme', 'release-night', ['kid'], 'release');
});
beforeEach(async () => {
  const roles = { rel: 'read', ann: 'read', tess: 'read', kid: 'read', wes: 'write' } as const;
  web = await acme.repository(`web-${++count}`, [{}, {}], { private: true, roles });
  await patch(`/v1/repos/${web}/settings`, { freezers: ['rel', '@acme/release'], approvers: ['ann'] });
});

async function patch(path: string, body: object, as = acme.admin) {
  const answer = await acme.call('PATCH', path, { as, body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const freezeBody = { reason: 'Release 5', start: null, timezone: 'UTC' };
const freezeAs = async (as: string, repository = web) => {
  const answer = await acme.call('POST', `/v1/repos/${repository}/scheduled_freeze`, {
    as,
    body: freezeBody,
  });
  await acme.quiet();
  return answer;
};
const plan = (include: string[]) => ({
  ...{ name: 'Night', reason: 'Books', start: null, end: null, timezone: 'UTC' },
  repositories: { include, exclude: [] },
});
const plans = (as: string, body: object, rest = '') =>
  acme.call('POST', `/v1/freeze_plans/acme${rest}`, { as, body });
const pageOf = async (login: string, path: string) => (await visitors[login]!.open(path)).text;
const silentTeams = { kind: 'status', match: { path: /\/team\/\d+\/memberships\// }, status: 502 } as const;
/** More than the 10 s for which a no counts, and the minute of a yes. */
const later = () => acme.advanceTo(new Date(acme.clock.now() + 61_000));

test('the API: a freezer freezes, pauses and plans as an admin does, and no more', async () => {
  const { call } = acme;
  const as = tokens.rel!;
  const made = await freezeAs(as);
  expect(made.status, made.text).toBe(201);
  expect(acme.frozen(web)).toEqual([1, 2]);
  const at = `/v1/repos/${web}`;
  const of = `${at}/scheduled_freeze/${made.body.id}`;
  const calls: [string, string, object?][] = [
    ['GET', `${at}/scheduled_freeze`],
    ['POST', `${at}/scheduled_freeze/preview`, freezeBody],
    ['GET', `${at}/enforcement`],
    ['GET', `${of}/enforcement`],
    ['GET', `${at}/pulls/1/freezes`],
    ['GET', `${at}/logs`],
    ['PATCH', of, { reason: 'Later' }],
    ['PUT', `${at}/merge-queue/pause`, { reason: 'Broken' }],
    ['GET', `${at}/merge-queue/pause`],
    ['DELETE', `${at}/merge-queue/pause`],
    ['POST', `${of}/delete`, { delete_reason: 'Done' }],
  ];
  for (const [method, path, body] of calls) {
    const { status, text } = await call(method, path, { as, body });
    expect([method, path, status < 300, text]).toEqual([method, path, true, text]);
  }
  const [, name] = web.split('/') as [string, string];
  const planned = await plans(as, plan([name]));
  expect(planned.status, planned.text).toBe(201);
  const listed = await call('GET', '/v1/freeze_plans/acme', { as });
  expect(listed.body.freeze_plans.map(({ id }: { id: string }) => id)).toContain(planned.body.id);
  const end = { as, body: { delete_reason: 'Done' } };
  expect((await call('POST', `/v1/freeze_plans/acme/${planned.body.id}/delete`, end)).status).toBe(204);

  const beyond: [string, string, object?][] = [
    ['GET', `${at}/settings`],
    ['PATCH', `${at}/settings`, { freezers: [] }],
    ['PUT', `/v1/products/${web}`, { products: [] }],
    ['GET', '/v1/applications/acme'],
    ['GET', '/v1/settings/acme'],
    ['PATCH', '/v1/settings/acme', { freezers: [] }],
    ['GET', `${at}/exemptions`],
    ['POST', `${at}/pulls/1/exemptions`, { reason: 'Mine' }],
  ];
  for (const [method, path, body] of beyond) {
    const { status } = await call(method, path, { as, body });
    expect([method, path, status]).toEqual([method, path, 403]);
  }
});

test('the API: an approver decides, also after a writer, and their own exemption is requested', async () => {
  const exemptions = exemptionsOf(acme);
  const { request, decide, list } = exemptions;
  await acme.freeze(web);
  const asked = await exemptions.exempt(web, 1, {}, acme.tokens.wes);
  expect(asked.state).toBe('requested');
  expect((await decide('approve', web, asked, tokens.rel)).status).toBe(403);
  expect(await list(web, '', tokens.ann)).toHaveLength(1);
  const approved = await decide('approve', web, asked, tokens.ann);
  expect([approved.status, approved.body.state]).toEqual([200, 'approved']);
  expect(acme.frozen(web)).toEqual([2]);
  expect((await decide('revoke', web, asked, tokens.ann)).body.state).toBe('revoked');
  const other = await exemptions.exempt(web, 1, {}, acme.tokens.wes);
  expect((await decide('deny', web, other, tokens.ann)).body.state).toBe('denied');

  // The role makes nobody a writer.
  expect((await request(web, 2, {}, tokens.ann)).status).toBe(403);
  acme.github.setRole(web, 'ann', 'write');
  await later();
  expect((await exemptions.exempt(web, 2, {}, tokens.ann)).state).toBe('requested');
  expect((await freezeAs(tokens.ann!)).status).toBe(403);
});

test('a refusal names the role and who has it, but not to somebody who cannot read the repository', async () => {
  const refused = await freezeAs(acme.tokens.wes);
  expect([refused.status, refused.body.detail]).toEqual([
    403,
    `wes is not an admin of ${web} on GitHub. Ask one, or use an admin application key. The role freezer is enough too: rel, @acme/release have it.`,
  ]);
  const { status, body } = await freezeAs(acme.tokens.eve);
  expect([status, body.detail]).toEqual([404, expect.not.stringContaining('rel')]);
  const { request, decide } = exemptionsOf(acme);
  const { body: asked } = await request(web, 1, {}, acme.tokens.wes);
  const denied = await decide('approve', web, asked, acme.tokens.wes);
  expect(denied.body.detail).toContain('The role approver is enough too: ann has it.');
});

test('a role needs a token that shows its scopes', async () => {
  const { github } = acme;
  for (const kind of ['fine-grained', 'user-to-server'] as const) {
    const { status, body } = await freezeAs(github.addToken('rel', { kind }));
    expect([status, body.detail]).toEqual([403, expect.stringContaining('a token without scopes')]);
  }
  const narrow = github.addToken('rel', { scopes: ['public_repo'] });
  expect((await freezeAs(narrow)).status).toBe(403);
  const open = await acme.repository(`open-${count}`);
  await patch(`/v1/repos/${open}/settings`, { freezers: ['rel'] });
  expect((await freezeAs(narrow, open)).status).toBe(201);
  expect((await freezeAs(github.addToken('rel', { kind: 'oauth', scopes: ['repo'] }), open)).status).toBe(
    201,
  );
});

test('a team: its members and those of child teams, who did join, as long as they are in it', async () => {
  const { github } = acme;
  expect((await freezeAs(tokens.tess!)).status).toBe(201);
  expect((await freezeAs(tokens.kid!)).status).toBe(201);
  github.leaveTeam('acme', 'release', 'tess');
  // Asked at the moment of the decision: that she was a member a second ago does not count.
  expect((await freezeAs(tokens.tess!)).status).toBe(403);
  github.inviteToTeam('acme', 'release', 'tess');
  await later();
  expect((await freezeAs(tokens.tess!)).status).toBe(403);
  github.joinTeam('acme', 'release', 'tess');
  await later();
  expect((await freezeAs(tokens.tess!)).status).toBe(201);
});

test('a login that changed hands: the person keeps the role, and the next holder does not get it', async () => {
  const { github } = acme;
  github.renameUser('rel', 'rel-now');
  const thief = github.addUser('rel');
  github.setMembership('acme', 'rel', 'member');
  github.setRole(web, 'rel', 'read');
  await later();
  const settings = await acme.call('GET', `/v1/repos/${web}/settings`, { as: acme.admin });
  expect(settings.body.freezers).toEqual(['rel-now', '@acme/release']);
  expect((await freezeAs(thief.token)).status).toBe(403);
  expect((await freezeAs(tokens.rel!)).status).toBe(201);

  // The same of a login that is in the team: its former holder, who left the team, is no member.
  github.renameUser('tess', 'tess-now');
  github.leaveTeam('acme', 'release', 'tess-now');
  github.addUser('tess');
  github.joinTeam('acme', 'release', 'tess');
  await later();
  const [, name] = web.split('/') as [string, string];
  const form = {
    repository: name,
    which: 'ticked',
    reason: 'Mine',
    duration: '1',
    zone: 'UTC',
    step: 'freeze',
  };
  expect((await visitors.tess!.send('/owners/acme/freeze', form)).status).toBe(403);
  // A pattern that matches nothing asks about no repository, only about the team.
  await patch('/v1/settings/acme', { freezers: ['@acme/release'] });
  const pattern = { ...form, repository: 'nothing-*' };
  expect((await visitors.tess!.send('/owners/acme/freeze', pattern)).status).toBe(403);
  expect((await visitors.kid!.send('/owners/acme/freeze', pattern)).status).not.toBe(403);
  await patch('/v1/settings/acme', { freezers: null });
  github.joinTeam('acme', 'release', 'tess-now');
  for (const [now, before] of [
    ['rel-now', 'rel'],
    ['tess-now', 'tess'],
  ] as const) {
    github.renameUser(before, `${before}-thief`);
    github.renameUser(now, before);
  }
  await later();
});

test('while GitHub does not say who is in a team, every road says to try again, and none refuses', async () => {
  const { github } = acme;
  await patch('/v1/settings/acme', { freezers: ['@acme/release'] });
  await patch(`/v1/repos/${web}/settings`, { approvers: ['@acme/release'] });
  const planned = await plans(tokens.tess!, plan([web.split('/')[1]!]));
  expect(planned.status, planned.text).toBe(201);
  await acme.quiet();
  await later();
  github.faults.add(silentTeams);
  const as = tokens.tess!;
  const calls: [string, string, object?][] = [
    ['POST', `/v1/repos/${web}/scheduled_freeze`, freezeBody],
    ['GET', `/v1/repos/${web}/logs`],
    ['POST', '/v1/freeze_plans/acme', plan(['*'])],
    ['GET', '/v1/freeze_plans/acme'],
  ];
  for (const [method, path, body] of calls) {
    const answer = await acme.call(method, path, { as, body });
    expect([path, answer.status, answer.body.detail, answer.headers.get('retry-after')]).toEqual([
      path,
      503,
      expect.stringContaining('GitHub does not say whether tess is in a team with the role freezer'),
      '10',
    ]);
  }
  const tess = visitors.tess!;
  const edit = `/owners/acme/plans/${planned.body.id}/edit`;
  for (const page of [`/repos/${web}/audit`, '/owners/acme/audit', '/owners/acme/exemptions', edit]) {
    const { status, text } = await tess.open(page);
    expect([page, status, text]).toEqual([page, 503, expect.stringContaining('GitHub is not available')]);
  }
  const form = { repository: '*', which: 'ticked', reason: 'R', duration: '1', zone: 'UTC', step: 'freeze' };
  expect((await tess.send('/owners/acme/freeze', form)).status).toBe(503);
  // A command waits, instead of being ignored like that of a stranger.
  const before = acme.answers(web, 1);
  await acme.write(web, 1, 'tess', '/holdfast unfreeze Shipped');
  expect(acme.answers(web, 1)).toEqual(before);
  github.faults.clear();
  await later();
  await acme.quiet();
  expect(acme.answers(web, 1).slice(before.length)).toEqual([expect.stringContaining('**Ended**')]);
  expect(acme.frozen(web)).toEqual([]);
  await patch('/v1/settings/acme', { freezers: null });
});

test('while GitHub does not say who is in a team, roles that need no such answer count', async () => {
  const { github } = acme;
  github.faults.add(silentTeams);
  // Who is named by login needs no such answer.
  expect((await freezeAs(tokens.rel!)).status).toBe(201);
  github.faults.clear();
  github.goDown();
  await later();
  expect((await freezeAs(tokens.rel!)).status).toBe(503);
  github.comeBack();
  await later();
  expect((await freezeAs(tokens.tess!)).status).toBe(201);
});

test('pages: a freezer sees the forms and freezes, and whoever has no role is told which one it takes', async () => {
  const [, name] = web.split('/') as [string, string];
  const page = `/repos/${web}`;
  expect(await pageOf('ann', page)).not.toContain('Freeze now');
  expect(await pageOf('rel', page)).toContain('>Freeze now</a>');
  expect(await pageOf('kid', '/repos/acme')).toContain('Freeze now');
  const fields = {
    repository: name,
    which: 'ticked',
    reason: 'Release 5',
    duration: '1',
    zone: 'UTC',
    step: 'freeze',
  };
  const refused = await visitors.ann!.send('/owners/acme/freeze', fields);
  expect([refused.status, refused.text]).toEqual([
    403,
    expect.stringContaining('The role freezer is enough too: rel, @acme/release have it.'),
  ]);
  const preview = await visitors.rel!.send('/owners/acme/freeze', fields);
  expect(preview.status, preview.text).toBe(200);
  const previewed = /name="previewed" value="([^"]+)"/.exec(preview.text)![1]!;
  const key = /name="key" value="([^"]+)"/.exec(preview.text)?.[1];
  const sent = await visitors.rel!.send('/owners/acme/freeze', { ...fields, previewed, ...(key && { key }) });
  expect([sent.status, sent.location]).toEqual([303, expect.stringContaining('progress')]);
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([1, 2]);

  const { body } = await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: tokens.rel });
  const freeze = `${page}/freezes/${body.scheduled_freezes[0].id}`;
  expect(await pageOf('rel', freeze)).toContain(`action="${freeze}/end"`);
  expect(await pageOf('ann', freeze)).not.toContain(`action="${freeze}/end"`);
  const version = /name="version" value="([^"]+)"/.exec(await pageOf('tess', freeze))![1]!;
  await acme.advanceTo(new Date(acme.clock.now() + 1000));
  const ended = await visitors.tess!.send(`${freeze}/end`, { version });
  expect(ended.status, ended.text).toBe(303);
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([]);
});

test('pages: an approver finds the request and decides', async () => {
  await acme.freeze(web);
  const page = `/repos/${web}/pulls/1`;
  expect(await pageOf('rel', page)).toContain('an admin or an approver (ann) approves it');
  const asked = await exemptionsOf(acme).request(web, 1, {}, acme.tokens.wes);
  const approve = `${page}/exemptions/${asked.body.id}/approve`;
  // GitHub names the installations that she can see when she signs in.
  await visitors.ann!.signIn('ann');
  expect(await pageOf('ann', '/')).toContain(`href="${page}"`);
  expect(await pageOf('ann', page)).toContain(`action="${approve}"`);
  expect(await pageOf('rel', page)).not.toContain(`action="${approve}"`);
  expect((await visitors.rel!.send(approve, {})).status).not.toBe(303);
  expect((await visitors.ann!.send(approve, {})).status).toBe(303);
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([2]);
});

test('comments: readers with a role are obeyed, other readers get no answer', async () => {
  expect(await acme.say(web, 1, 'rel', '/holdfast freeze 2h Release 5')).toMatch(/^\*\*Frozen until /);
  expect(acme.frozen(web)).toEqual([1, 2]);
  expect(await acme.say(web, 1, 'wes', '/holdfast exempt A fix')).toContain(
    'An admin or approver of the repository can write',
  );
  expect(await acme.say(web, 1, 'wes', '/holdfast approve')).toContain(
    'The role approver is enough too: ann',
  );
  const before = acme.answers(web, 1).length;
  await acme.write(web, 1, 'rel', '/holdfast approve');
  await acme.write(web, 1, 'ann', '/holdfast unfreeze Now');
  expect(acme.answers(web, 1)).toHaveLength(before);
  expect(await acme.say(web, 1, 'ann', '/holdfast approve')).toMatch(/^\*\*Exempt until /);
  expect(await acme.say(web, 1, 'kid', '/holdfast unfreeze Shipped')).toMatch(/^\*\*Ended\*\*/);
  expect(acme.frozen(web)).toEqual([]);
});

test('a plan with a pattern needs the role in the settings of the owner, and that its matches can be read', async () => {
  const include = [`${web.split('/')[1]}*`];
  const refused = await plans(tokens.rel!, plan(include));
  expect([refused.status, refused.body.detail]).toEqual([
    403,
    expect.stringContaining('The role freezer is enough too, if the settings of acme give it.'),
  ]);
  expect(await pageOf('rel', '/owners/acme/freeze')).not.toContain('value="all"');
  await patch('/v1/settings/acme', { freezers: ['rel'] });
  expect(await pageOf('rel', '/owners/acme/freeze')).toMatch(/value="all"\s+checked/);
  expect((await plans(tokens.rel!, plan(include), '/preview')).status).toBe(200);
  const made = await plans(tokens.rel!, plan(include));
  expect(made.status, made.text).toBe(201);
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([1, 2]);
  const at = `/v1/freeze_plans/acme/${made.body.id}`;
  const listed = await acme.call('GET', '/v1/freeze_plans/acme', { as: tokens.rel });
  expect(listed.body.freeze_plans).toHaveLength(1);
  const changed = await acme.call('PATCH', at, { as: tokens.rel, body: { reason: 'Later' } });
  expect(changed.status, changed.text).toBe(200);
  const page = `/owners/acme/plans/${made.body.id}`;
  expect(await pageOf('rel', `${page}/edit`)).toContain('>Preview</button>');
  expect(await pageOf('rel', page)).toContain(`action="${page}/delete"`);
  const others = await pageOf('ann', page);
  expect(others).toContain('Night');
  expect(others).not.toMatch(/<form[^>]*\/plans\/|Edit<\/a>/);

  // A repository appears that the pattern matches and that rel cannot read: not even its name is told.
  await acme.repository(`${include[0]!.slice(0, -1)}-secret`, [{}], { private: true });
  for (const rest of ['', '/preview']) {
    const { status, body } = await plans(tokens.rel!, plan(include), rest);
    expect([status, body.detail]).toEqual([403, expect.not.stringContaining('secret')]);
  }
  const narrower = { ...plan(include), repositories: { include, exclude: ['*-secret'] } };
  expect((await plans(tokens.rel!, narrower, '/preview')).status).toBe(200);
  const del = { as: acme.admin, body: { delete_reason: 'Done' } };
  expect((await acme.call('POST', `${at}/delete`, del)).status).toBe(204);
  await patch('/v1/settings/acme', { freezers: null });
});

test('the command line uses the API, so a freezer freezes with it', async () => {
  const rel = commandLineFor(acme, tokens.rel);
  const done = await rel.holdfast(['freeze', web, '-m', 'Release 5', '--for', '2h']);
  expect([done.code, done.err]).toEqual([0, expect.any(String)]);
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([1, 2]);
  rel.close();
});

test('doctor names people and teams that are gone', async () => {
  const { github } = acme;
  github.addUser('ghost');
  github.addTeam('acme', 'old');
  await patch(`/v1/repos/${web}/settings`, { approvers: ['ghost', 'ann'], freezers: ['@acme/old'] });
  const finding = async () => {
    const { body } = await acme.call('GET', `/v1/repos/${web}/enforcement`, { as: acme.admin });
    return body.findings.find(({ check }: { check: string }) => check === 'roles');
  };
  expect(await finding()).toBeUndefined();
  github.deleteUser('ghost');
  github.deleteTeam('acme', 'old');
  await later();
  expect(await finding()).toMatchObject({
    state: 'warning',
    message: 'GitHub no longer has these freezers or approvers: @acme/old, ghost.',
  });
});
