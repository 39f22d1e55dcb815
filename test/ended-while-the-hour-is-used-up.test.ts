// GitHub answers nothing more to the installation in this hour. Whoever may end a freeze ends it by the API: GitHub is asked
// with the token that they sent, at its cost.
import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();
const tokens: Record<string, string> = {};
/** The freezers of `web` are people and a team, those of `lib` people only, so nobody has to ask about teams there. */
const rows: [who: string, login: string, repository: 'web' | 'lib', status: number][] = [
  ['an admin', 'ada', 'web', 204],
  ['a freezer by name', 'rel', 'web', 204],
  ['a freezer by team', 'tess', 'web', 204],
  ['a freezer by a child team', 'kid', 'web', 204],
  ['who was only invited to the team', 'ivy', 'web', 503],
  ['who is in no team that GitHub shows them', 'ann', 'web', 503],
  ['who cannot see the repository', 'eve', 'web', 503],
  ['a freezer by name', 'rel', 'lib', 204],
  ['who can write and has no role', 'wes', 'lib', 403],
  ['who can read and has no role', 'ann', 'lib', 403],
];
const freezes: Record<string, string> = {};
let planId: string;

const end = (login: string, path: string) =>
  acme.call('POST', path, { as: tokens[login]!, body: { delete_reason: 'Over' } });

beforeAll(async () => {
  const { github } = acme;
  for (const login of ['rel', 'tess', 'kid', 'ivy', 'ann', 'eve', 'wes']) github.addUser(login);
  for (const login of ['rel', 'tess', 'kid', 'ivy', 'ann', 'wes'])
    github.setMembership('acme', login, 'member');
  for (const login of ['ada', 'rel', 'tess', 'kid', 'ivy', 'ann', 'eve', 'wes'])
    tokens[login] = github.addToken(login, { kind: 'classic', scopes: ['repo', 'admin:org'] });
  github.addTeam('acme', 'release', ['tess']);
  github.addTeam('acme', 'release-night', ['kid'], 'release');
  github.inviteToTeam('acme', 'release', 'ivy');
  const roles = { rel: 'read', tess: 'read', kid: 'read', ivy: 'read', ann: 'read', wes: 'write' } as const;
  for (const [name, freezers] of [
    ['web', ['rel', '@acme/release']],
    ['lib', ['rel']],
  ] as const) {
    await acme.repository(name, [{}], { private: true, roles });
    const settings = { as: acme.admin, body: { freezers } };
    expect((await acme.call('PATCH', `/v1/repos/acme/${name}/settings`, settings)).status).toBe(200);
  }
  for (const [, login, name] of rows)
    freezes[`${login} ${name}`] = (await acme.freeze(`acme/${name}`, { reason: login })).id;
  const plan = { name: 'Night', reason: 'Books', start: null, timezone: 'UTC' };
  const body = { ...plan, repositories: { include: ['web'] } };
  const made = await acme.call('POST', '/v1/freeze_plans/acme', { as: tokens.rel!, body });
  expect(made.status, made.text).toBe(201);
  planId = made.body.id;
  // What GitHub said before counts no more.
  await acme.advanceTo(new Date(acme.clock.now() + 3_700_000));
  const match = ({ tokenKind }: { tokenKind: string }) => tokenKind === 'installation';
  github.faults.add({ kind: 'primary-limit', retryAfter: 1800, match });
});

test.each(rows)('%s: %s ends a freeze of %s with %i', async (_, login, name, status) => {
  const path = `/v1/repos/acme/${name}/scheduled_freeze/${freezes[`${login} ${name}`]}/delete`;
  const answer = await end(login, path);
  expect(answer.status, answer.text).toBe(status);
});

test('a freezer ends a plan of repositories that they may freeze', async () => {
  const answer = await end('rel', `/v1/freeze_plans/acme/${planId}/delete`);
  expect(answer.status, answer.text).toBe(204);
});
