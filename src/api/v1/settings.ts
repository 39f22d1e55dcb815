import { z } from '@hono/zod-openapi';
import { changeSettings, presentSettings, readSettings } from '../../installations/settings.ts';
import { endpoint } from '../endpoint.ts';
import { repositoryPath } from '../fields.ts';

/** Ten years. */
const mostHours = 87_600;

const twoPersonExemptions = z
  .boolean()
  .openapi({ description: 'Whether a second person must approve each exemption' });
const longestOpenEndHours = z
  .int()
  .min(1, `Send 1 to ${mostHours} hours, or null for no limit.`)
  .max(mostHours, `Send 1 to ${mostHours} hours, or null for no limit.`)
  .nullable()
  .openapi({
    description:
      'A freeze or plan without an end gets an end this many hours after it begins. If null, it does not. A pause of the merge queue never gets an end',
  });
const commentCommands = z
  .union([z.boolean(), z.literal('requests')], {
    error: ({ input }) => `Send true, false or "requests"${input === null ? ', not null' : ''}.`,
  })
  .openapi({
    description:
      'Whether people can use commands in comments on pull requests. With "requests", only `status` and `exempt`',
  });

const schema = z
  .object({
    two_person_exemptions: twoPersonExemptions,
    longest_open_end_hours: longestOpenEndHours,
    comment_commands: commentCommands,
  })
  .openapi('RepositorySettings');

const change = z
  .object({
    two_person_exemptions: twoPersonExemptions.optional(),
    longest_open_end_hours: longestOpenEndHours.optional(),
    comment_commands: commentCommands.optional(),
  })
  .openapi('RepositorySettingsChange');

const shared = {
  path: '/repos/{owner}/{repository}/settings',
  tag: 'Settings',
  access: { to: 'repository', scope: 'admin' },
  params: repositoryPath,
  success: {
    status: 200,
    description: 'The settings',
    schema,
    example: { two_person_exemptions: false, longest_open_end_hours: null, comment_commands: true },
  },
} as const;

export const getSettings = endpoint({
  ...shared,
  method: 'get',
  summary: 'Read the settings of a repository',
  async handle({ deps, repository }) {
    return presentSettings(await readSettings(deps.db, repository.id));
  },
});

export const patchSettings = endpoint({
  ...shared,
  method: 'patch',
  summary: 'Change the settings of a repository that you send',
  body: { schema: change, example: { longest_open_end_hours: 72 } },
  async handle({ deps, actor, repository, body }) {
    const settings = await changeSettings(deps, actor, repository, {
      twoPersonExemptions: body.two_person_exemptions,
      longestOpenEndHours: body.longest_open_end_hours,
      commentCommands: body.comment_commands,
    });
    return presentSettings(settings);
  },
});
