// Who may call for an owner: its application keys, and jobs of GitHub Actions by OIDC rules.
import { z } from '@hono/zod-openapi';
import { createKey, keyScopes, listKeys, revokeKey } from '../../auth/application-key.ts';
import { createRule, deleteRule, type NewOidcRule, rulesOf } from '../../auth/oidc/manage-rules.ts';
import { jobPermissions, type OidcRule } from '../../auth/oidc/oidc-rule.ts';
import { forbidden } from '../../errors.ts';
import type { Account, ApplicationKey } from '../../generated/prisma/client.ts';
import { nowOf } from '../../time/clock.ts';
import { fieldsOfSchema } from '../answers.ts';
import { deletionOf, endpoint, ofOwner } from '../endpoint.ts';
import { glob, globs, instantField, textSchema, who } from '../fields.ts';

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

const exampleKey = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  name: 'release tooling',
  scope: 'admin',
  account_scope: { id: 1001, login: 'acme' },
  created_at: '2026-03-01T09:00:00.000Z',
  expires_at: null,
};

const listedExample = {
  ...exampleKey,
  created_by: { type: 'user', id: 1, name: 'ada' },
  last_used_at: '2026-03-01T09:05:00.000Z',
};

const presentKey = (
  key: Pick<ApplicationKey, 'id' | 'name' | 'scope' | 'createdAt' | 'expiresAt'>,
  { id, login }: Pick<Account, 'id' | 'login'>,
) => fieldsOfSchema(application, { ...key, accountScope: { id: Number(id), login } });

const presentListed = (key: ApplicationKey, account: Account) => ({
  ...presentKey(key, account),
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
  success: { status: 200, description: 'The calling key', schema: application, example: exampleKey },
  async handle({ caller }) {
    if (caller.kind !== 'application-key') {
      throw forbidden(
        'This route describes application keys. Call it with an application key (hf_admin_… or hf_ci_…).',
      );
    }
    return presentKey(caller.key, caller.key.account);
  },
});

const keysOf = ofOwner('Application keys', '/applications/{owner}');

export const getApplications = endpoint({
  ...keysOf,
  method: 'get',
  summary: "List an owner's application keys, without their secrets",
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
    name: textSchema(255, 'A name').min(1, 'A name has at least 1 character.'),
    scope: z.enum(keyScopes),
    expires_at: instantField('Send an instant such as 2027-01-01T00:00:00Z, or null.').nullish().openapi({
      description:
        'When the key expires. If null or absent, it does not expire. A key that another key creates expires with that key at the latest.',
    }),
  })
  .openapi('NewApplication');

export const postApplications = endpoint({
  ...keysOf,
  method: 'post',
  summary: 'Create an application key',
  description: 'Only this answer contains the secret. A replay by `Idempotency-Key` has null instead.',
  body: { schema: newApplication, example: { name: 'release tooling', scope: 'admin', expires_at: null } },
  success: {
    status: 201,
    description: 'The new key',
    schema: application.extend({ secret: z.string().nullable() }).openapi('ApplicationWithSecret'),
    example: { ...exampleKey, secret: 'hf_admin_…' },
  },
  async handle({ deps, actor, account, body, remember }) {
    const wanted = {
      name: body.name,
      scope: body.scope,
      expiresAt: body.expires_at ? new Date(body.expires_at) : null,
    };
    const { key, secret } = await createKey(deps, actor, account, wanted, (tx, saved) =>
      remember(tx, { ...presentKey(saved, account), secret: null }),
    );
    return { ...presentKey(key, account), secret };
  },
});

export const deleteApplication = deletionOf({
  ...keysOf,
  id: 'application_id',
  summary: 'Revoke an application key and the keys that it created',
  does: 'Revoked',
  remove: revokeKey,
});

const syntax = '(`*`, `?`, `[abc]`, `{a,b}`)';

const keyFields = {
  name: textSchema(255, 'A name').min(1, 'A name has at least 1 character.'),
  repositories: globs(
    `Globs ${syntax} over the names of the owner's repositories, in any case of letters; null or absent: any`,
    'any',
  ),
  refs: globs(
    `Globs ${syntax} over the whole ref, with case; \`*\` ends at a slash, \`**\` does not; null or absent: any`,
    'any',
    glob.refine(
      (ref) => /^refs\/|^\*\*$/.test(ref),
      'Write the whole ref, such as refs/heads/main, refs/heads/release/* or refs/pull/*/merge.',
    ),
  ),
  environments: globs(
    `Globs ${syntax} over the environment of the job, in any case of letters; null or absent: any, and none`,
    'any',
  ),
  may: z
    .array(z.enum(jobPermissions))
    .refine((may) => may.includes('push_scopes'), 'Send ["push_scopes"] or ["push_scopes", "freeze"].')
    .openapi({
      description:
        '`push_scopes`: what a CI key may do; `freeze`: also make freezes, and change and end those',
    }),
};

export const newOidcRule = z
  .object(keyFields)
  .refine(({ may, refs, environments }) => !may.includes('freeze') || refs || environments, {
    path: ['refs'],
    message:
      'A rule that lets jobs freeze names refs or environments: else everybody who can push a branch can freeze. To mean that, send ["**"].',
  })
  .openapi('NewOidcRule');

export const readNewRule = (body: z.output<typeof newOidcRule>): NewOidcRule => ({
  name: body.name,
  repositories: body.repositories ?? null,
  refs: body.refs ?? null,
  environments: body.environments ?? null,
  may: jobPermissions.filter((permission) => body.may.includes(permission)),
});

const listOfTexts = z.array(z.string()).nullable();
const rule = z
  .object({
    id: z.uuid(),
    name: z.string(),
    repositories: listOfTexts,
    refs: listOfTexts,
    environments: listOfTexts,
    may: z.array(z.enum(jobPermissions)),
    created_by: who,
    created_at: z.iso.datetime(),
  })
  .openapi('OidcRule');

const exampleNewRule = {
  name: 'release',
  repositories: ['web', 'api-*'],
  refs: ['refs/heads/main', 'refs/heads/release/*'],
  environments: null,
  may: ['push_scopes', 'freeze'],
};

const exampleRule = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  ...exampleNewRule,
  created_by: { type: 'user', id: 1, name: 'ada' },
  created_at: '2026-03-01T09:00:00.000Z',
};

const presentRule = (each: OidcRule) => fieldsOfSchema(rule, each);

const rulesOfOwner = ofOwner('OIDC rules', '/oidc_rules/{owner}');

export const getOidcRules = endpoint({
  ...rulesOfOwner,
  method: 'get',
  summary: "List an owner's OIDC rules, the oldest first",
  success: {
    status: 200,
    description: 'Every rule that counts',
    schema: z.object({ oidc_rules: z.array(rule) }).openapi('OidcRules'),
    example: { oidc_rules: [exampleRule] },
  },
  async handle({ deps, account }) {
    const rules = await rulesOf(deps.sql, account.id, nowOf(deps.clock));
    return { oidc_rules: rules.map(presentRule) };
  },
});

export const postOidcRules = endpoint({
  ...rulesOfOwner,
  method: 'post',
  summary: 'Let jobs of GitHub Actions in by their OIDC tokens',
  description:
    'A job may act in its own repository alone. A rule that a key makes counts as long as that key.',
  body: { schema: newOidcRule, example: exampleNewRule },
  success: { status: 201, description: 'The new rule', schema: rule, example: exampleRule },
  handle: ({ deps, actor, account, body, remember }) =>
    createRule(deps, actor, account, readNewRule(body), remember),
  present: presentRule,
});

export const deleteOidcRule = deletionOf({
  ...rulesOfOwner,
  id: 'rule_id',
  summary: 'Delete an OIDC rule. It lets in no more jobs',
  remove: deleteRule,
});
