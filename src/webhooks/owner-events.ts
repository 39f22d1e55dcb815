import * as z from 'zod';
import { jobs } from '../database/queue/jobs.ts';
import type { Wake } from './accept-event.ts';

// Events about an owner: its people, its teams and its name. And every other event names its owner.

const id = z.int().positive();
const ownerInstalled = { installation: z.object({ id }).optional() };
const inOrganization = z.object({ ...ownerInstalled, organization: z.object({ id }) });
const renamable = z.object({ changes: z.object({ name: z.object({}).nullish() }).nullish() });

export const ownerPayloads = {
  membership: inOrganization,
  team: inOrganization.extend(renamable.shape),
  organization: inOrganization.extend({ action: z.string() }),
  installation_target: z.object(ownerInstalled),
};

type Payloads = { [Event in keyof typeof ownerPayloads]: z.output<(typeof ownerPayloads)[Event]> };

export const ownerWakes: { [Event in keyof Payloads]: (payload: Payloads[Event]) => Wake[] } = {
  membership: (payload) => teams(payload),
  team: ({ changes, ...payload }) => [
    ...teams(payload),
    // The settings show the new name. It changes nobody's rights.
    ...(changes?.name ? always(jobs.keepTeams(BigInt(payload.organization.id))) : []),
  ],
  organization: ({ action, ...payload }) => (action === 'renamed' ? renamed(payload) : teams(payload)),
  installation_target: (payload) => renamed(payload),
};

const always = (...jobs: Extract<Wake, { to: 'jobs' }>['jobs']): Wake[] => [{ to: 'jobs', jobs }];

const teams = ({ organization }: Payloads['membership']): Wake[] => [
  { to: 'account', accountId: BigInt(organization.id), reads: ['teams'] },
];

/** The owner has another name, and with it all of its repositories. */
const renamed = ({ installation }: Payloads['installation_target']): Wake[] =>
  installation ? always(jobs.syncInstallation(BigInt(installation.id))) : [];

/** The owner that an event names, with the login of its time. */
export type NamedOwner = { id: number; login: string; installationId: number };

const account = z.object({ id, login: z.string().min(1).max(100) });
const named = z.object({
  installation: z.object({ id }),
  repository: z.object({ owner: account }).optional(),
  organization: account.optional(),
});

/** The owner that a payload names, of any event; null if it names none. */
export function ownerIn(payload: unknown): NamedOwner | null {
  const { data } = named.safeParse(payload);
  const owner = data?.repository?.owner ?? data?.organization;
  return owner ? { ...owner, installationId: data!.installation.id } : null;
}
