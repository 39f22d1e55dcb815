import { z } from '@hono/zod-openapi';
import { nowOf } from '../../time/clock.ts';
import {
  attributesOfRule,
  createRule,
  deleteRule,
  type NewOidcRule,
  rulesOf,
} from '../../auth/oidc/manage-rules.ts';
import { jobPermissions, type OidcRule } from '../../auth/oidc/oidc-rule.ts';
import { endpoint } from '../endpoint.ts';
import { glob, globs, text, owner, ownerPath, uuid, who } from '../fields.ts';

const syntax = '(`*`, `?`, `[abc]`, `{a,b}`)';

const fields = {
  name: text(255, 'A name').min(1, 'A name has at least 1 character.'),
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
  .object(fields)
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

const list = z.array(z.string()).nullable();
const rule = z
  .object({
    id: z.uuid(),
    name: z.string(),
    repositories: list,
    refs: list,
    environments: list,
    may: z.array(z.enum(jobPermissions)),
    created_by: who,
    created_at: z.iso.datetime(),
  })
  .openapi('OidcRule');

const exampleBody = {
  name: 'release',
  repositories: ['web', 'api-*'],
  refs: ['refs/heads/main', 'refs/heads/release/*'],
  environments: null,
  may: ['push_scopes', 'freeze'],
};

const example = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  ...exampleBody,
  created_by: { type: 'user', id: 1, name: 'ada' },
  created_at: '2026-03-01T09:00:00.000Z',
};

const present = (rule: OidcRule) => ({
  id: rule.id,
  ...attributesOfRule(rule),
  created_by: rule.createdBy,
  created_at: rule.createdAt.toISOString(),
});

const tag = 'OIDC rules';

export const getOidcRules = endpoint({
  method: 'get',
  path: '/oidc_rules/{owner}',
  tag,
  summary: "List an owner's OIDC rules, the oldest first",
  access: { to: 'owner' },
  params: ownerPath,
  success: {
    status: 200,
    description: 'Every rule that counts',
    schema: z.object({ oidc_rules: z.array(rule) }).openapi('OidcRules'),
    example: { oidc_rules: [example] },
  },
  async handle({ deps, account }) {
    const rules = await rulesOf(deps.sql, account.id, nowOf(deps.clock));
    return { oidc_rules: rules.map(present) };
  },
});

export const postOidcRules = endpoint({
  method: 'post',
  path: '/oidc_rules/{owner}',
  tag,
  summary: 'Let jobs of GitHub Actions in by their OIDC tokens',
  description:
    'A job may act in its own repository alone. A rule that a key makes counts as long as that key.',
  access: { to: 'owner' },
  params: ownerPath,
  body: { schema: newOidcRule, example: exampleBody },
  success: { status: 201, description: 'The new rule', schema: rule, example },
  async handle({ deps, actor, account, body, remember }) {
    const made = await createRule(deps, actor, account, readNewRule(body), (tx, saved) =>
      remember(tx, { status: 201, body: present(saved) }),
    );
    return present(made);
  },
});

export const deleteOidcRule = endpoint({
  method: 'delete',
  path: '/oidc_rules/{owner}/{rule_id}',
  tag,
  summary: 'Delete an OIDC rule. It lets in no more jobs',
  access: { to: 'owner' },
  params: z.object({ owner, rule_id: uuid('rule_id') }),
  success: { status: 204, description: 'Deleted' },
  async handle({ deps, actor, account, path }) {
    await deleteRule(deps, actor, account, path.rule_id);
  },
});
