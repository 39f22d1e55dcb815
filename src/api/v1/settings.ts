import { z } from '@hono/zod-openapi';
import { listRepositories, productNames } from '../../installations/product.ts';
import { instantHolds, settingColumns } from '../../installations/setting-fields.ts';
import {
  changeOwnerSettings,
  changeRepositorySettings,
  setDefaultProducts,
  setRepositoryProducts,
  showOwnerSettings,
  showRepositorySettings,
  type ShownSettings,
} from '../../settings/settings.ts';
import { pushesAreRefused, refusedPushes } from '../../explanations/enforcement/refused-pushes.ts';
import { unknownFields } from '../answers.ts';
import { endpoint, ofOwner } from '../endpoint.ts';
import { repositoryParams } from '../fields.ts';

/** Ten years. */
const mostHours = 87_600;
const hours = `Send 1 to ${mostHours} hours, or null for no limit of its own.`;

/** People and teams in a list. */
const mostHolders = 50;
const holder = z
  .string()
  .max(100, 'Send a login or team of at most 100 characters.')
  .regex(
    /^([\w-]+|@[\w-]+\/[\w-]+)$/,
    'Send the login of a person, such as ada, or a team, such as @acme/release.',
  );
const holders = (description: string) =>
  z
    .array(holder)
    .max(mostHolders, `Name at most ${mostHolders} people and teams.`)
    .openapi({ description, example: ['ada', '@acme/release'] });

/** A setting without a value of its own is null in a change. */
const settingSchemas = {
  two_person_exemptions: z
    .boolean()
    .openapi({ description: 'Whether a second person must approve each exemption' }),
  longest_open_end_hours: z.int().min(1, hours).max(mostHours, hours).nullable().openapi({
    description:
      'A freeze or plan without an end gets an end this many hours after it begins. If null, it does not. A pause of the merge queue never gets an end',
  }),
  comment_commands: z
    .union([z.boolean(), z.literal('requests')], { error: 'Send true, false, "requests" or null.' })
    .openapi({
      description:
        'Whether people can use commands in comments on pull requests. With "requests", only `status` and `exempt`',
    }),
  freezers: holders(
    'Who can do with freezes, pauses and plans what an admin of the repository can: people by login, and teams of the organization',
  ),
  approvers: holders('Who can approve, deny and revoke exemptions, and list them'),
  instant_hold: z.enum(instantHolds, { error: 'Send "off", "bridge", "lock" or null.' }).openapi({
    description:
      'Whether a ruleset of the second App blocks the branches of a freeze at once: `bridge` until the statuses hold, `lock` until the last freeze ends, which blocks direct pushes too',
  }),
  release_deployments: z.enum(['newest', 'all'], { error: 'Send "newest", "all" or null.' }).openapi({
    description:
      'Which deployments that a freeze held go out at its end. `newest`: the newest run of each environment and workflow, and older ones are rejected. `all`: all, the oldest first, each when the one before it has begun or ended',
  }),
} satisfies Record<(typeof settingColumns)[number], z.ZodType>;

const warnings = z.array(z.string()).optional().openapi({
  description:
    'Fields of the request that are no settings, people and teams that GitHub no longer has, and whom an instant hold that was set refuses. Absent if there are none',
});
const ownerSchema = z.object({ ...settingSchemas, warnings }).openapi('OwnerSettings');
const repositorySettingsSchema = z
  .object({
    ...settingSchemas,
    inherited: z
      .array(z.string())
      .openapi({ description: 'The settings that the repository has from its owner' }),
    warnings,
  })
  .openapi('RepositorySettings');

export const settingsChange = z
  .looseObject({
    two_person_exemptions: settingSchemas.two_person_exemptions.nullish(),
    longest_open_end_hours: settingSchemas.longest_open_end_hours.nullish(),
    comment_commands: settingSchemas.comment_commands.nullish(),
    freezers: settingSchemas.freezers.nullish(),
    approvers: settingSchemas.approvers.nullish(),
    instant_hold: settingSchemas.instant_hold.nullish(),
    release_deployments: settingSchemas.release_deployments.nullish(),
  })
  .openapi('SettingsChange');

const settingsBody = {
  schema: settingsChange,
  example: { longest_open_end_hours: 72, freezers: ['ada', '@acme/release'] },
};

/** @param sent the body of the request. @param refused whom instant holds refuse, if they were set. */
function withWarnings(settings: ShownSettings, sent: object, refused: string[]) {
  const answered = Object.keys(repositorySettingsSchema.shape);
  const unknown = unknownFields(sent, [...settingColumns], answered, 'settings');
  const warnings = [...unknown, ...(settings.warnings ?? []), ...refused];
  return { ...settings, ...(warnings.length > 0 && { warnings }) };
}

const setsHold = ({ instant_hold: mode }: { instant_hold?: string | null }): boolean =>
  mode === 'bridge' || mode === 'lock';

const exampleSettings = {
  two_person_exemptions: false,
  longest_open_end_hours: 72,
  comment_commands: true,
  freezers: ['ada', '@acme/release'],
  approvers: [],
  instant_hold: 'off',
  release_deployments: 'newest',
} as const;

const ofRepository = {
  path: '/repos/{owner}/{repository}/settings',
  tag: 'Settings',
  access: { to: 'repository', scope: 'admin' },
  params: repositoryParams,
  success: {
    status: 200,
    description: 'The settings that count, the repository’s own or inherited',
    schema: repositorySettingsSchema,
    example: {
      ...exampleSettings,
      inherited: [
        'two_person_exemptions',
        'comment_commands',
        'approvers',
        'instant_hold',
        'release_deployments',
      ],
    },
  },
} as const;

export const getSettings = endpoint({
  ...ofRepository,
  method: 'get',
  summary: 'Read the settings of a repository',
  handle: ({ deps, repository }) => showRepositorySettings(deps, repository),
});

export const patchSettings = endpoint({
  ...ofRepository,
  method: 'patch',
  summary: 'Change the settings of a repository that you send',
  description: 'A setting that you set to null has the value of the owner again.',
  body: settingsBody,
  async handle({ deps, actor, repository, body }) {
    const settings = await changeRepositorySettings(deps, actor, repository, body);
    const refused = setsHold(body) ? [pushesAreRefused, ...(await refusedPushes(deps, repository))] : [];
    return withWarnings(settings, body, refused);
  },
});

const defaults = {
  ...ofOwner('Settings', '/settings/{owner}'),
  success: { status: 200, description: 'The defaults', schema: ownerSchema, example: exampleSettings },
} as const;

export const getOwnerSettings = endpoint({
  ...defaults,
  method: 'get',
  summary: "Read the default settings of an owner's repositories",
  handle: ({ deps, account }) => showOwnerSettings(deps, account),
});

export const patchOwnerSettings = endpoint({
  ...defaults,
  method: 'patch',
  summary: "Change the default settings of an owner's repositories that you send",
  description:
    'They count at once in every repository without a value of its own. A setting that you set to null has its built-in default again.',
  body: settingsBody,
  async handle({ deps, actor, account, body }) {
    const settings = await changeOwnerSettings(deps, actor, account, body);
    return withWarnings(settings, body, setsHold(body) ? [pushesAreRefused] : []);
  },
});

const productList = z.array(z.enum(productNames));
const productsBody = {
  schema: z.object({ products: productList }).openapi('Products'),
  example: { products: ['merge_protections', 'merge_queue'] },
};
const productsOf = ofOwner('Products', '/default_products/{owner}');

export const putProducts = endpoint({
  method: 'put',
  path: '/products/{owner}/{repository}',
  tag: 'Products',
  summary: 'Set the products enabled on a repository',
  access: { to: 'repository', scope: 'admin' },
  params: repositoryParams,
  body: productsBody,
  success: { status: 204, description: 'Set' },
  async handle({ deps, actor, repository, body }) {
    await setRepositoryProducts(deps, actor, repository, body.products);
  },
});

export const getDefaultProducts = endpoint({
  ...productsOf,
  method: 'get',
  summary: 'Read the products that new repositories of an owner start with',
  success: { status: 200, description: 'The default products', ...productsBody },
  async handle({ deps, account }) {
    const { defaultProducts } = await deps.db.account.findUniqueOrThrow({ where: { id: account.id } });
    return { products: defaultProducts };
  },
});

export const putDefaultProducts = endpoint({
  ...productsOf,
  method: 'put',
  summary: 'Set the products that new repositories of an owner start with',
  body: productsBody,
  success: { status: 204, description: 'Set' },
  async handle({ deps, actor, account, body }) {
    await setDefaultProducts(deps, actor, account, body.products);
  },
});

export const getRepositories = endpoint({
  ...productsOf,
  path: '/repos/{owner}',
  method: 'get',
  summary: 'List the repositories of an owner with their enabled products',
  success: {
    status: 200,
    description: 'Every repository where the App is installed',
    schema: z
      .object({
        repositories: z.array(z.object({ name: z.string(), enabled_products: productList })),
        archived: z
          .array(z.string())
          .min(1)
          .optional()
          .openapi({ description: 'Those of them that are archived. Absent if there are none' }),
      })
      .openapi('Repositories'),
    example: { repositories: [{ name: 'web', enabled_products: ['merge_protections', 'merge_queue'] }] },
  },
  async handle({ deps, account }) {
    const repositories = await listRepositories(deps, account.id);
    const archived = repositories.filter((each) => each.archived).map(({ name }) => name);
    return {
      repositories: repositories.map(({ name, products }) => ({ name, enabled_products: products })),
      ...(archived.length > 0 && { archived }),
    };
  },
});
