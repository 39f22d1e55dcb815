import { z } from '@hono/zod-openapi';
import { keyScopes, createKey, listKeys, revokeKey } from '../../auth/application-key.ts';
import { forbidden } from '../../errors.ts';
import type { Account, ApplicationKey } from '../../generated/prisma/client.ts';
import { endpoint } from '../endpoint.ts';
import { instant, text, owner, ownerPath, uuid, who } from '../fields.ts';

const application = z
  .object({
    id: z.uuid(),
    name: z.string(),
    scope: z.enum(keyScopes),
    account_scope: z.object({ id: z.number().int(), login: z.string() }),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
  })
  .openapi('Application');

const listedApplication = application
  .extend({
    created_by: who,
    last_used_at: z.iso.datetime().nullable().openapi({ description: 'Can be up to a minute old.' }),
  })
  .openapi('ListedApplication');

const example = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  name: 'release tooling',
  scope: 'admin',
  account_scope: { id: 1001, login: 'acme' },
  created_at: '2026-03-01T09:00:00.000Z',
  expires_at: null,
};

const listedExample = {
  ...example,
  created_by: { type: 'user', id: 1, name: 'ada' },
  last_used_at: '2026-03-01T09:05:00.000Z',
};

const present = (
  key: Pick<ApplicationKey, 'id' | 'name' | 'scope' | 'createdAt' | 'expiresAt'>,
  account: Pick<Account, 'id' | 'login'>,
) => ({
  id: key.id,
  name: key.name,
  scope: key.scope,
  account_scope: { id: Number(account.id), login: account.login },
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
});

const presentListed = (key: ApplicationKey, account: Account) => ({
  ...present(key, account),
  created_by: key.createdBy,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
});

export const getOwnApplication = endpoint({
  method: 'get',
  path: '/application',
  tag: 'Application keys',
  summary: 'Describe the application key that is calling',
  access: { to: 'own-key' },
  params: z.object({}),
  success: { status: 200, description: 'The calling key', schema: application, example },
  async handle({ caller }) {
    if (caller.kind !== 'application-key') {
      throw forbidden(
        'This route describes application keys. Call it with an application key (hf_admin_… or hf_ci_…).',
      );
    }
    return present(caller.key, caller.key.account);
  },
});

export const getApplications = endpoint({
  method: 'get',
  path: '/applications/{owner}',
  tag: 'Application keys',
  summary: "List an owner's application keys, without their secrets",
  access: { to: 'owner' },
  params: ownerPath,
  success: {
    status: 200,
    description: 'Every key that is not revoked',
    schema: z.object({ applications: z.array(listedApplication) }).openapi('Applications'),
    example: { applications: [listedExample] },
  },
  async handle({ deps, account }) {
    const keys = await listKeys(deps, account);
    return { applications: keys.map((key) => presentListed(key, account)) };
  },
});

export const newApplication = z
  .object({
    name: text(255, 'A name').min(1, 'A name has at least 1 character.'),
    scope: z.enum(keyScopes),
    expires_at: instant('Send an instant such as 2027-01-01T00:00:00Z, or null.').nullish().openapi({
      description:
        'When the key expires. If null or absent, it does not expire. A key that another key creates expires with that key at the latest.',
    }),
  })
  .openapi('NewApplication');

export const postApplications = endpoint({
  method: 'post',
  path: '/applications/{owner}',
  tag: 'Application keys',
  summary: 'Create an application key',
  description: 'Only this answer contains the secret. A replay by `Idempotency-Key` has null instead.',
  access: { to: 'owner' },
  params: ownerPath,
  body: { schema: newApplication, example: { name: 'release tooling', scope: 'admin', expires_at: null } },
  success: {
    status: 201,
    description: 'The new key',
    schema: application.extend({ secret: z.string().nullable() }).openapi('ApplicationWithSecret'),
    example: { ...example, secret: 'hf_admin_…' },
  },
  async handle({ deps, actor, account, body, remember }) {
    const wanted = {
      name: body.name,
      scope: body.scope,
      expiresAt: body.expires_at ? new Date(body.expires_at) : null,
    };
    const { key, secret } = await createKey(deps, actor, account, wanted, (tx, saved) =>
      remember(tx, { status: 201, body: { ...present(saved, account), secret: null } }),
    );
    return { ...present(key, account), secret };
  },
});

export const deleteApplication = endpoint({
  method: 'delete',
  path: '/applications/{owner}/{application_id}',
  tag: 'Application keys',
  summary: 'Revoke an application key and the keys that it created',
  access: { to: 'owner' },
  params: z.object({ owner, application_id: uuid('application_id') }),
  success: { status: 204, description: 'Revoked' },
  async handle({ deps, actor, account, path }) {
    await revokeKey(deps, actor, account, path.application_id);
  },
});
