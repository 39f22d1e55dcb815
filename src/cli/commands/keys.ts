import { command, type CommandSpec, type ServiceConnection, ownerCommand } from '../command.ts';
import { hostOfService } from '../service/connection.ts';
import { servicePatience, parseJson, type Schemas } from '../service/service.ts';
import { unknownThing, refusedBy } from '../stop.ts';
import { readOwner } from '../target.ts';
import type { World } from '../world.ts';

const listKeysCommand = ownerCommand<object>({
  usage: 'list <owner>',
  summary: 'list the application keys of an owner',
  examples: [['holdfast keys list acme', 'See the keys and when each was last used']],
  async run({ output, owner, service }) {
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
    ['--until <time>', 'when it expires: YYYY-MM-DDThh:mm'],
  ],
  examples: [
    ['holdfast keys create acme --name "release tooling" --scope admin --for 90d', 'A key for three months'],
    [
      'key=$(holdfast keys create acme --name ci --scope ci --json | jq -er .secret) && printf %s "$key" | gh secret set HOLDFAST_TOKEN',
      'Pass a key on without showing it',
    ],
  ],
  async run({ output, connect, world }, options, text) {
    const owner = readOwner(text);
    const { describeMoment, readTimeWindow: readWindow } = await import('../times.ts');
    const { endsAt } = readWindow({ for: options.for, until: options.until }, world);
    const { service } = await connect();
    if (endsAt !== null) output.note(`It expires at ${describeMoment(endsAt, world.zone, world.zone)}.`);
    const expires = endsAt === null ? null : new Date(endsAt).toISOString();
    const body = { name: options.name, scope: options.scope, expires_at: expires };
    const key = await service.post('/applications/{owner}', { owner }, body);
    // A retry gets the first answer again, but without the secret, which nobody stores.
    if (key.secret === null)
      throw unknownThing(
        `Created key ${key.id}, but its secret was lost on the way. Run holdfast keys revoke ${owner} ${key.id}, and create another key.`,
      );
    output.note(`Created key ${key.id}. This is the only time that its secret is shown:`);
    output.line(key.secret);
    output.json(key);
  },
});

const revoke = ownerCommand<object, [id: string]>({
  usage: 'revoke <owner> <id>',
  summary: 'revoke a key, and the keys that it created',
  examples: [['holdfast keys revoke acme a0f1f4f4-4d29-400f-a3c1-cebb769bc5ae', 'Revoke a key']],
  async run({ output, owner, service }, _options, id) {
    await service.delete('/applications/{owner}/{application_id}', { owner, application_id: id });
    output.line(`Revoked key ${id} of ${owner}.`);
    output.json({ revoked: id });
  },
});

export const keys: CommandSpec = {
  usage: 'keys',
  summary: 'manage the application keys of an owner',
  below: [listKeysCommand, create, revoke],
};

const shownKey = (globs: string[] | null): string => globs?.join(' ') ?? 'any';

const listRules = ownerCommand<object>({
  usage: 'list <owner>',
  summary: 'list the rules that let in jobs of GitHub Actions',
  examples: [['holdfast oidc-rules list acme', 'See which jobs can call without a key']],
  async run({ output, owner, service }) {
    const { oidc_rules } = await service.get('/oidc_rules/{owner}', { owner });
    output.table(
      ['NAME', 'REPOSITORIES', 'REFS', 'ENVIRONMENTS', 'MAY', 'BY', 'ID'],
      oidc_rules.map(({ id, name, repositories, refs, environments, may, created_by }) => [
        ...[
          name,
          shownKey(repositories),
          shownKey(refs),
          shownKey(environments),
          may.join(' '),
          created_by.name,
          id,
        ],
      ]),
    );
    if (oidc_rules.length === 0) output.line(`${owner} has no rule, so Holdfast lets in no jobs.`);
    output.json({ oidc_rules });
  },
});

type RuleOptions = {
  name: string;
  repository?: string[];
  ref?: string[];
  environment?: string[];
  freeze?: true;
};

const createRule = ownerCommand<RuleOptions>({
  usage: 'create <owner>',
  summary: 'create a rule that lets in jobs of GitHub Actions by their OIDC tokens',
  options: [
    ['--name <name>', 'what it is for', 'required'],
    ['--repository <glob>', 'only these repositories; repeat for more', 'many'],
    ['--ref <glob>', 'only these refs, such as refs/heads/main; repeat for more', 'many'],
    ['--environment <glob>', 'only these environments; repeat for more', 'many'],
    ['--freeze', 'let them also freeze; needs --ref or --environment'],
  ],
  examples: [
    ['holdfast oidc-rules create acme --name scopes', 'Let every job push scopes in its own repository'],
    [
      'holdfast oidc-rules create acme --name release --repository web --ref "refs/heads/release/*" --freeze',
      'Let jobs of release branches also freeze',
    ],
  ],
  async run({ output, owner, service }, { name, repository, ref, environment, freeze }) {
    const rule = await service.post(
      '/oidc_rules/{owner}',
      { owner },
      {
        name,
        repositories: repository ?? null,
        refs: ref ?? null,
        environments: environment ?? null,
        may: freeze ? ['push_scopes', 'freeze'] : ['push_scopes'],
      },
    );
    output.line(`Created OIDC rule ${rule.id} of ${owner}.`);
    output.json(rule);
  },
});

const deleteRule = ownerCommand<object, [id: string]>({
  usage: 'delete <owner> <id>',
  summary: 'delete a rule; it lets in no more jobs',
  examples: [['holdfast oidc-rules delete acme 6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f', 'Delete a rule']],
  async run({ output, owner, service }, _options, id) {
    await service.delete('/oidc_rules/{owner}/{rule_id}', { owner, rule_id: id });
    output.line(`Deleted OIDC rule ${id} of ${owner}.`);
    output.json({ deleted: id });
  },
});

export const oidcRules: CommandSpec = {
  usage: 'oidc-rules',
  summary: 'manage the rules of an owner that let in jobs of GitHub Actions',
  below: [listRules, createRule, deleteRule],
};

/** Whom a credential stands for. */
type Self = {
  kind: 'application key' | 'GitHub token' | 'OIDC token of a job';
  name: string;
  /** What it may do: the scope of a key, or the scopes of a classic token. Null if it does not say. */
  scope: string | null;
  owner: string | null;
  expires_at: string | null;
};

export const whoami = command<object, []>({
  usage: 'whoami',
  summary: 'show whose credential the commands use, what it may do and when it expires',
  examples: [['holdfast whoami', 'See whether you use an application key or your own token']],
  notes:
    'For an application key, this asks Holdfast. For a GitHub token, it asks GitHub, at GITHUB_API_URL or GH_HOST. The OIDC\ntoken of a job says it itself.',
  async run({ connect, world, output }) {
    const self = await selfOf(await connect(), world);
    const { describeMoment } = await import('../times.ts');
    const { kind, name, scope, owner, expires_at } = self;
    output.table(
      ['KIND', 'NAME', 'SCOPE', 'OWNER', 'EXPIRES'],
      [
        [
          ...[kind, name, scope ?? 'unknown', owner ?? 'none'],
          expires_at === null ? 'never' : describeMoment(Date.parse(expires_at), world.zone, world.zone),
        ],
      ],
    );
    output.json(self);
  },
});

async function selfOf({ service, token }: ServiceConnection, world: World): Promise<Self> {
  if (token.startsWith('hf_')) {
    const { name, scope, account_scope, expires_at } = await service.get('/application', {});
    return { kind: 'application key', name, scope, owner: account_scope.login, expires_at };
  }
  return claimsOf(token) ?? personOf(token, world);
}

/** The claims that GitHub puts into the token of a job; null for other credentials. The service checks them, not this. */
function claimsOf(token: string): Self | null {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return null;
  const claims = parseJson(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown> | null;
  const { repository, workflow, run_id: run, exp } = claims ?? {};
  if (typeof repository !== 'string') return null;
  return {
    kind: 'OIDC token of a job',
    name: `${repository} ${String(workflow)} run ${String(run)}`,
    scope: null,
    owner: repository.split('/')[0]!,
    expires_at: typeof exp === 'number' ? new Date(exp * 1000).toISOString() : null,
  };
}

async function personOf(token: string, world: World): Promise<Self> {
  const host = hostOfService(world);
  const api =
    world.env.GITHUB_API_URL?.trim() ||
    (host === 'github.com' ? 'https://api.github.com' : `https://${host}/api/v3`);
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/vnd.github+json' };
  const signal = AbortSignal.timeout(servicePatience);
  const response = await fetch(`${api.replace(/\/+$/, '')}/user`, {
    headers,
    redirect: 'error',
    signal,
  }).catch((error: unknown) => {
    throw unknownThing(`GitHub does not answer at ${api} (${(error as Error).message}).`);
  });
  const { login } = (parseJson(await response.text()) ?? {}) as { login?: unknown };
  if (response.status === 401)
    throw refusedBy(`GitHub at ${api} does not know this token. Use another one, or set GH_HOST.`, 401);
  if (!response.ok || typeof login !== 'string')
    throw unknownThing(`GitHub at ${api} answers ${response.status} and does not say whose token this is.`);
  const expiry = response.headers.get('github-authentication-token-expiration');
  const expiresAt = expiry === null ? NaN : Date.parse(expiry.replace(' UTC', 'Z').replace(' ', 'T'));
  return {
    kind: 'GitHub token',
    name: login,
    scope: response.headers.get('x-oauth-scopes') || null,
    owner: null,
    expires_at: Number.isNaN(expiresAt) ? null : new Date(expiresAt).toISOString(),
  };
}
