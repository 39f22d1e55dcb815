// Roles hang on the ids of teams: whoever creates a team with a freed name gets nothing, and nobody loses a role by a rename.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { exemptionsOf } from './support/exemptions.ts';

const acme = acmeForAll();
const tokens: Record<string, string> = {};
let web: string;
let count = 0;

beforeAll(() => {
  for (const login of ['tessa', 'remy', 'wes']) {
    acme.github.addUser(login);
    acme.github.setMembership('acme', login, 'member');
    tokens[login] = acme.github.addToken(login, { kind: 'classic', scopes: ['repo'] });
  }
});
beforeEach(async () => {
  acme.github.addTeam('acme', `release-${++count}`, ['tessa']);
  const roles = { tessa: 'read', remy: 'read', wes: 'write' } as const;
  web = await acme.repository(`web-${count}`, [{}, {}], { private: true, roles });
});

const slug = (prefix = 'release') => `${prefix}-${count}`;
const settingsPath = () => `/v1/repos/${web}/settings`;
const ownerPath = '/v1/settings/acme';
const patch = async (path: string, body: object) => {
  const answer = await acme.call('PATCH', path, { as: acme.admin, body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const read = async (path: string) => (await acme.call('GET', path, { as: acme.admin })).body;
const eventsOf = async (path: string) => (await read(path)).events;
const freezeAs = async (login: string) => {
  const body = { reason: 'Release 5', start: null, timezone: 'UTC' };
  const answer = await acme.call('POST', `/v1/repos/${web}/scheduled_freeze`, { as: tokens[login], body });
  await acme.quiet();
  return answer;
};
/** More than the minute of a yes. */
const later = () => acme.advanceTo(new Date(acme.clock.now() + 61_000));

test('the team keeps its roles under its new name, and another team with the freed name has none', async () => {
  const { github } = acme;
  await patch(settingsPath(), { freezers: [`@acme/${slug()}`], approvers: [`@acme/${slug()}`] });
  const freeze = await acme.freeze(web);
  github.renameTeam('acme', slug(), slug('managers'));
  github.addTeam('acme', slug(), ['remy']);
  await acme.quiet();

  const exemptions = exemptionsOf(acme);
  const asked = await exemptions.exempt(web, 1, {}, tokens['wes']);
  expect((await exemptions.decide('approve', web, asked, tokens['remy'])).status).toBe(403);
  const of = `/v1/repos/${web}/scheduled_freeze/${freeze.id}/delete`;
  const end = (login: string) =>
    acme.call('POST', of, { as: tokens[login], body: { delete_reason: 'Mine' } });
  const refused = await end('remy');
  expect([refused.status, refused.body.detail]).toEqual([
    403,
    expect.stringContaining(`The role freezer is enough too: @acme/${slug('managers')} has it.`),
  ]);
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([1, 2]);

  expect(await read(settingsPath())).toMatchObject({
    freezers: [`@acme/${slug('managers')}`],
    approvers: [`@acme/${slug('managers')}`],
  });
  expect((await exemptions.decide('approve', web, asked, tokens['tessa'])).status).toBe(200);
  expect((await end('tessa')).status).toBe(204);
});

test('an answer has the name of today although no webhook told it', async () => {
  const { github } = acme;
  await patch(ownerPath, { freezers: [`@acme/${slug()}`] });
  github.webhookFaults.add({ kind: 'drop', event: 'team' });
  github.renameTeam('acme', slug(), slug('lost'));
  expect((await read(ownerPath)).freezers).toEqual([`@acme/${slug('lost')}`]);
  // From then on, everything else shows it, too.
  await acme.quiet();
  const saved = await acme.app.deps.db.account.findFirstOrThrow({ where: { loginKey: 'acme' } });
  expect(saved.settings).toMatchObject({ freezers: [{ team: slug('lost') }] });
  expect((await patch(ownerPath, { freezers: null })).freezers).toEqual([]);
});

test('a deleted team is shown as it was, counts for nobody, and is named', async () => {
  const { github } = acme;
  await patch(settingsPath(), { freezers: [`@acme/${slug()}`] });
  github.deleteTeam('acme', slug());
  github.addTeam('acme', slug(), ['remy']);
  await acme.quiet();
  for (const settings of [
    await read(settingsPath()),
    await patch(settingsPath(), { comment_commands: true }),
  ])
    expect(settings).toMatchObject({
      freezers: [`@acme/${slug()}`],
      warnings: [`GitHub no longer has @acme/${slug()}, so nobody has a role by this name. Remove it.`],
    });
  for (const login of ['tessa', 'remy']) expect((await freezeAs(login)).status).toBe(403);
  // Who names it again means the team of now.
  expect((await patch(settingsPath(), { freezers: [`@acme/${slug()}`] })).warnings).toBeUndefined();
  await later();
  expect((await freezeAs('remy')).status).toBe(201);
});

/** Settings as versions before the ids of teams saved them. */
async function saveAsBefore(freezers: object[]) {
  const { db } = acme.app.deps;
  const [, name] = web.split('/') as [string, string];
  await db.repository.updateMany({ where: { name }, data: { settings: { freezers } } });
}

test('settings that have only a slug are resolved once, and that is an event', async () => {
  const { github } = acme;
  const other = `gone-${count}`;
  await saveAsBefore([{ team: slug() }, { team: other }]);
  // The first decision does it, if the start did not yet.
  expect((await freezeAs('tessa')).status).toBe(201);
  const log = `/v1/repos/${web}/logs?event_type=repository_settings.update`;
  const [event, ...more] = await eventsOf(log);
  expect(more).toEqual([]);
  expect(event.metadata).toMatchObject({
    settings_after: { freezers: [`@acme/${slug()}`, `@acme/${other}`] },
    team_ids: { [`@acme/${slug()}`]: expect.any(Number), [`@acme/${other}`]: null },
    updated_by: { name: 'Holdfast' },
  });

  // From then on, the names give nothing: neither the freed one, nor the one that nobody had.
  github.renameTeam('acme', slug(), slug('managers'));
  github.addTeam('acme', slug(), ['remy']);
  github.addTeam('acme', other, ['remy']);
  await acme.quiet();
  expect((await freezeAs('remy')).status).toBe(403);
  // Neither where another repository still has the name alone, which means the team of now there.
  const { db } = acme.app.deps;
  const elsewhere = await acme.repository(`elsewhere-${count}`);
  const saved = {
    where: { name: elsewhere.split('/')[1]! },
    data: { settings: { freezers: [{ team: other }] } },
  };
  await db.repository.updateMany(saved);
  github.suspend('acme');
  github.unsuspend('acme');
  await acme.quiet();
  expect((await freezeAs('remy')).status).toBe(403);
  expect((await freezeAs('tessa')).status).toBe(201);
  expect((await read(settingsPath())).freezers).toEqual([`@acme/${slug('managers')}`, `@acme/${other}`]);
  expect(await eventsOf(log)).toHaveLength(1);
});

test('a start resolves them too; while GitHub does not answer, people try again', async () => {
  const { github } = acme;
  await saveAsBefore([{ team: slug() }]);
  github.faults.add({ kind: 'status', match: { path: /\/teams\// }, status: 502, times: Infinity });
  const refused = await freezeAs('tessa');
  expect([refused.status, refused.body.detail]).toEqual([
    503,
    expect.stringContaining('GitHub does not say whether tessa is in a team with the role freezer'),
  ]);
  github.faults.clear();
  // Without `members: read`, nothing is tried again and again.
  github.faults.add({ kind: 'status', match: { path: /\/teams\// }, status: 403, times: Infinity });
  github.suspend('acme');
  github.unsuspend('acme');
  await acme.quiet();
  // That GitHub does not show the team is an answer: the role does not count.
  expect((await freezeAs('tessa')).status).toBe(403);
  const failed = acme.app.deps.db.job.count({ where: { task: 'keep-teams' } });
  expect(await failed).toBe(0);
  github.faults.clear();
  github.suspend('acme');
  github.unsuspend('acme');
  await acme.quiet();
  const [event] = await eventsOf(`/v1/repos/${web}/logs?event_type=repository_settings.update`);
  expect(event.metadata.team_ids).toEqual({ [`@acme/${slug()}`]: expect.any(Number) });
});

test('a person with a role who takes another login is served at once', async () => {
  const { github } = acme;
  await patch(settingsPath(), { freezers: [`@acme/${slug()}`], approvers: ['tessa'] });
  expect((await freezeAs('tessa')).status).toBe(201);
  github.renameUser('tessa', 'tessa-now');
  expect((await freezeAs('tessa')).status).toBe(201);
  // Somebody else who takes the old login has nothing of hers.
  const thief = github.addUser('tessa');
  github.setRole(web, 'tessa', 'read');
  github.setMembership('acme', 'tessa', 'member');
  expect((await freezeAs('tessa')).status).toBe(201);
  tokens['thief'] = thief.token;
  expect((await freezeAs('thief')).status).toBe(403);
});
