import { isDeepStrictEqual } from 'node:util';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import type { Repository, Account } from '../generated/prisma/client.ts';
import { jobs } from '../queue/jobs.ts';
import { assertWritable, type FoundRepository } from './find-repository.ts';
import { type Product, products } from './product.ts';
import { lockRepository } from './repository-rows.ts';

/** The settings that admins of a repository choose. */
export type Settings = {
  /** Whether an exemption needs a second person. */
  twoPersonExemptions: boolean;
  /** A freeze without an end gets an end this many hours after it begins; null if it does not. */
  longestOpenEndHours: number | null;
  /** Whether people can use commands in comments on pull requests: all, or only those that request something. */
  commentCommands: boolean | 'requests';
};

/** The settings of a repository. */
export const readSettings = async (tx: Tx, repositoryId: bigint): Promise<Settings> =>
  settingsOf(await tx.repository.findUniqueOrThrow({ where: { id: repositoryId }, select: columns }));

const columns = {
  twoPersonExemptions: true,
  longestOpenEndHours: true,
  commentCommands: true,
  commentsOnlyRequest: true,
} as const;
type Columns = Pick<Repository, keyof typeof columns>;

/** The settings in a repository's row. */
export const settingsOf = ({
  twoPersonExemptions,
  longestOpenEndHours,
  commentCommands,
  commentsOnlyRequest,
}: Columns): Settings => ({
  twoPersonExemptions,
  longestOpenEndHours,
  commentCommands: commentCommands && commentsOnlyRequest ? 'requests' : commentCommands,
});

/** A change of settings as a change of the row. */
export const columnsOf = ({ commentCommands, ...others }: SettingsChange): Partial<Columns> => ({
  ...others,
  ...(commentCommands !== undefined && {
    commentCommands: commentCommands !== false,
    commentsOnlyRequest: commentCommands === 'requests',
  }),
});

/** @property each what to set it to; `undefined` keeps it. */
type SettingsChange = { [Name in keyof Settings]: Settings[Name] | undefined };

/** The settings in the form of the API and the audit log. */
export const presentSettings = (settings: Settings) => ({
  two_person_exemptions: settings.twoPersonExemptions,
  longest_open_end_hours: settings.longestOpenEndHours,
  comment_commands: settings.commentCommands,
});

/**
 * Changes settings of a repository. A change without effect is no event.
 * @throws Refusal conflict if the repository cannot be written to.
 */
export async function changeSettings(
  deps: Pick<Deps, 'db' | 'clock'>,
  actor: Actor,
  repository: FoundRepository,
  change: SettingsChange,
): Promise<Settings> {
  assertWritable(repository);
  const { id } = repository;
  return deps.db.$transaction(async (tx) => {
    // The lock on the row orders concurrent changes, so that the log shows the real effect of each.
    await lockRepository(tx, id);
    const before = await readSettings(tx, id);
    const after = settingsOf(await tx.repository.update({ where: { id }, data: columnsOf(change) }));
    if (isDeepStrictEqual(before, after)) return after;
    const metadata = { settings_before: presentSettings(before), settings_after: presentSettings(after) };
    const event = { type: 'repository_settings.update', metadata } as const;
    await appendEvent(tx, placeOf(repository), event, actor, nowOf(deps.clock));
    return after;
  });
}

/** The products in the order of the interface, so that equal sets look the same. */
const ordered = (chosen: readonly Product[]): Product[] =>
  products.filter((product) => chosen.includes(product));

/**
 * Sets the enabled products of a repository and updates its statuses: without `merge_protections` and `merge_queue`,
 * nothing is held.
 * @throws Refusal conflict if the repository cannot be written to.
 */
export async function setRepositoryProducts(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  chosen: readonly Product[],
): Promise<void> {
  assertWritable(repository);
  const after = ordered(chosen);
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    const { id } = repository;
    // The lock on the row orders concurrent changes, so that the log shows the real effect of each.
    await lockRepository(tx, id);
    const { products: before } = await tx.repository.findUniqueOrThrow({ where: { id } });
    const changed = products.filter((product) => before.includes(product) !== after.includes(product));
    if (changed.length === 0) return;
    await tx.repository.update({ where: { id }, data: { products: after, reconcileRequestedAt: now } });
    for (const product of changed) {
      const type = after.includes(product) ? 'product.enabled' : 'product.disabled';
      await appendEvent(tx, placeOf(repository), { type, metadata: { product } }, actor, now);
    }
    await deps.queue.send([jobs.reconcileRepository(id), jobs.keepPlans(repository.accountId)], tx);
  });
}

/** Sets the products of an owner's new repositories. Existing repositories keep theirs. */
export async function setDefaultProducts(
  deps: Deps,
  actor: Actor,
  account: Account,
  chosen: readonly Product[],
): Promise<void> {
  const after = ordered(chosen);
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    const { id } = account;
    await tx.$queryRaw`SELECT 1 FROM accounts WHERE id = ${id} FOR UPDATE`;
    const { defaultProducts: before } = await tx.account.findUniqueOrThrow({ where: { id } });
    await tx.account.update({ where: { id }, data: { defaultProducts: after } });
    const metadata = { products_before: ordered(before), products_after: after };
    await appendEvent(tx, { accountId: id }, { type: 'default_products.update', metadata }, actor, now);
  });
}
