import { command, type CommandSpec } from '../command.ts';
import type { Schemas } from '../service/service.ts';
import { notKnown } from '../stop.ts';
import { readOwner } from '../target.ts';

const list = command<object, [owner: string]>({
  usage: 'list <owner>',
  summary: 'list the application keys of an owner',
  examples: [['holdfast keys list acme', 'See the keys and when each was last used']],
  async run({ output, connect }, _options, text) {
    const owner = readOwner(text);
    const { service } = await connect();
    const { applications } = await service.get('/applications/{owner}', { owner });
    output.table(
      ['NAME', 'SCOPE', 'EXPIRES', 'LAST USED', 'BY', 'ID'],
      applications.map(({ id, name, scope, expires_at, last_used_at, created_by }) => [
        ...[name, scope, expires_at ?? 'never', last_used_at ?? 'never', created_by.name, id],
      ]),
    );
    if (applications.length === 0) output.line(`${owner} has no keys.`);
    output.json({ applications });
  },
});

type CreateOptions = Pick<Schemas['NewApplication'], 'name' | 'scope'> & { for?: string; until?: string };

const create = command<CreateOptions, [owner: string]>({
  usage: 'create <owner>',
  summary: 'create an application key, and print its secret once',
  options: [
    ['--name <name>', 'what it is for', 'required'],
    ['--scope <scope>', 'admin (everything but scopes) or ci (pushes scopes)', 'required'],
    ['--for <length>', 'how long the key is valid: 90d (without --for or --until, forever)'],
    ['--until <time>', 'when it expires: 2027-01-01T00:00'],
  ],
  examples: [
    ['holdfast keys create acme --name "release tooling" --scope admin --for 90d', 'A key for three months'],
    [
      'holdfast keys create acme --name ci --scope ci --json | jq -r .secret | gh secret set HOLDFAST_TOKEN',
      'Pass a key on without showing it',
    ],
  ],
  async run({ output, connect, world }, options, text) {
    const owner = readOwner(text);
    const { describeMoment, readWindow } = await import('../times.ts');
    const { endsAt } = readWindow({ for: options.for, until: options.until }, world);
    const { service } = await connect();
    if (endsAt !== null) output.note(`It expires at ${describeMoment(endsAt, world.zone, world.zone)}.`);
    const expires = endsAt === null ? null : new Date(endsAt).toISOString();
    const body = { name: options.name, scope: options.scope, expires_at: expires };
    const key = await service.post('/applications/{owner}', { owner }, body);
    // A retry gets the first answer again, but without the secret, which nobody stores.
    if (key.secret === null)
      throw notKnown(
        `Made key ${key.id}, but its secret was lost on the way. Run holdfast keys revoke ${owner} ${key.id}, and create another key.`,
      );
    output.note(`Made key ${key.id}. This is the only time that its secret is shown:`);
    output.line(key.secret);
    output.json(key);
  },
});

const revoke = command<object, [owner: string, id: string]>({
  usage: 'revoke <owner> <id>',
  summary: 'revoke a key, and the keys that it created',
  examples: [['holdfast keys revoke acme a0f1f4f4-4d29-400f-a3c1-cebb769bc5ae', 'Revoke a key']],
  async run({ output, connect }, _options, text, id) {
    const owner = readOwner(text);
    const { service } = await connect();
    await service.delete('/applications/{owner}/{application_id}', { owner, application_id: id });
    output.line(`Revoked key ${id} of ${owner}.`);
    output.json({ revoked: id });
  },
});

export const keys: CommandSpec = {
  usage: 'keys',
  summary: 'manage the application keys of an owner',
  below: [list, create, revoke],
};
