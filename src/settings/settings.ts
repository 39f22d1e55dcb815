// `settings/` has what admins of an owner or a repository choose, and who has a role by it.
import { isDeepStrictEqual } from 'node:util';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import type { Account, Prisma } from '../generated/prisma/client.ts';
import { jobs } from '../database/queue/jobs.ts';
import { type InstalledAccount, lockAccount } from '../installations/find-account.ts';
import {
  assertWritable,
  type FoundRepository,
  suspended,
  lockRepository,
} from '../installations/find-repository.ts';
import { conflict } from '../errors.ts';
import { type Product, productNames } from '../installations/product.ts';
import { inheritedBy, presentSettings, type Presented } from './present-settings.ts';
import { findHolders, holderText, type Role, type RolePlace, withCurrentNames } from './role-holders.ts';
import {
  effectiveSettings,
  type OwnSettings,
  type RoleHolder,
  settingColumns,
  type SettingValues,
} from '../installations/setting-fields.ts';
import type { GitHubDeps } from '../github/github-deps.ts';

/** The settings of a repository that count. */
export const readSettings = async (tx: Tx, repositoryId: bigint): Promise<SettingValues> =>
  settingsOfRow(await tx.repository.findUniqueOrThrow({ where: { id: repositoryId }, select }));

/** The same for several repositories, by their ids. */
export async function readSettingsOfAll(tx: Tx, ids: bigint[]): Promise<Map<bigint, SettingValues>> {
  const rows = await tx.repository.findMany({ where: { id: { in: ids } }, select: { id: true, ...select } });
  return new Map(rows.map(({ id, ...row }) => [id, settingsOfRow(row)]));
}

/** Who has which role in some repositories of an owner, all archived or none. */
type RolesOfSome = { ids: bigint[]; archived: boolean; holders: Record<Role, RoleHolder[]> };

/** Who has a role in the repositories of an owner: each list once, and the repositories that have it. */
export async function readRolesOfOwner(tx: Tx, accountId: bigint): Promise<RolesOfSome[]> {
  type Row = SettingsRow & { ofOwner: Prisma.JsonValue } & Omit<RolesOfSome, 'holders'>;
  const rows = await tx.$queryRaw<Row[]>`
    SELECT repositories.settings, accounts.settings AS "ofOwner", archived, array_agg(repositories.id) AS ids
    FROM repositories JOIN accounts ON accounts.id = account_id WHERE account_id = ${accountId} GROUP BY 1, 2, 3`;
  return rows.map(({ settings, ofOwner, ...those }) => {
    const { freezers, approvers } = settingsOfRow({ settings, account: { settings: ofOwner } });
    return { ...those, holders: { freezer: freezers, approver: approvers } };
  });
}

/** The defaults that an owner set, and built-in ones for the rest. */
export const readOwnerSettings = async (tx: Tx, id: bigint): Promise<SettingValues> =>
  effectiveSettings(ownOf(await tx.account.findUniqueOrThrow({ where: { id }, select: { settings: true } })));

const select = { settings: true, account: { select: { settings: true } } } as const;
type SettingsRow = { settings: Prisma.JsonValue };

const ownOf = ({ settings }: SettingsRow): OwnSettings => settings as OwnSettings;
const settingsOfRow = ({ account, ...row }: SettingsRow & { account: SettingsRow }): SettingValues =>
  effectiveSettings(ownOf(row), ownOf(account));

/**
 * Settings as the API shows them.
 * @property inherited of a repository: the names of those that it has from its owner.
 * @property warnings sentences about people and teams that GitHub no longer has; absent if there are none.
 */
export type ShownSettings = Presented & { inherited?: string[]; warnings?: string[] };

/** What to set, by the names in the API: null removes the setting, and what is absent stays. */
export type SettingsChange = { [Column in keyof Presented]?: Presented[Column] | null };

/** The settings of a repository for people, with the names of today. */
export async function showRepositorySettings(
  deps: GitHubDeps,
  repository: FoundRepository,
): Promise<ShownSettings> {
  const row = await deps.db.repository.findUniqueOrThrow({ where: { id: repository.id }, select });
  return { ...(await showCurrent(deps, repository, settingsOfRow(row))), inherited: inheritedBy(ownOf(row)) };
}

/** The same for the defaults of an owner. */
export const showOwnerSettings = async (
  deps: GitHubDeps,
  account: InstalledAccount,
): Promise<ShownSettings> =>
  showCurrent(deps, placeOfOwner(account), await readOwnerSettings(deps.db, account.id));

async function showCurrent(
  deps: GitHubDeps,
  place: RolePlace,
  settings: SettingValues,
): Promise<Presented & Pick<ShownSettings, 'warnings'>> {
  const { login } = place.account;
  const [freezers, approvers] = await Promise.all([
    withCurrentNames(deps, place, settings.freezers),
    withCurrentNames(deps, place, settings.approvers),
  ]);
  // Everything else shows the saved names.
  if (freezers.isRenamed || approvers.isRenamed) await deps.queue.send([jobs.keepTeams(place.account.id)]);
  const gone = new Set([...freezers.gone, ...approvers.gone].map((each) => holderText(each, login)));
  const warnings = [...gone].map(
    (each) => `GitHub no longer has ${each}, so nobody has a role by this name. Remove it.`,
  );
  return {
    ...presentSettings({ ...settings, freezers: freezers.holders, approvers: approvers.holders }, login),
    ...(warnings.length > 0 && { warnings }),
  };
}

const placeOfOwner = (account: InstalledAccount): RolePlace => ({
  account,
  installation: account.installation,
});

/**
 * Changes settings of a repository. A change without effect is no event.
 * @throws Refusal conflict if the repository cannot be written to; invalid if a person or team is unknown; unavailable
 *   while GitHub does not say who they are.
 */
export async function changeRepositorySettings(
  deps: GitHubDeps,
  actor: Actor,
  repository: FoundRepository,
  change: SettingsChange,
): Promise<ShownSettings> {
  assertWritable(repository);
  const { id, account } = repository;
  await assertLockApp(deps, change);
  const given = await resolved(deps, repository, change);
  await deps.db.$transaction(async (tx) => {
    // The lock on the row orders concurrent changes, so that the log shows the real effect of each.
    await lockRepository(tx, id);
    const row = await tx.repository.findUniqueOrThrow({ where: { id }, select });
    const before = ownOf(row);
    const after = merged(before, given);
    if (isDeepStrictEqual(before, after)) return;
    await tx.repository.update({ where: { id }, data: { settings: after, ...ofVersionBefore(after) } });
    const shown = (own: OwnSettings) => ({
      ...presentSettings(effectiveSettings(own, ownOf(row.account)), account.login),
      inherited: inheritedBy(own),
    });
    const metadata = { settings_before: shown(before), settings_after: shown(after) };
    const event = { type: 'repository_settings.update', metadata } as const;
    await appendEvent(tx, placeOf(repository), event, actor, nowOf(deps.clock));
    if (before.instant_hold !== after.instant_hold)
      await deps.queue.send([jobs.settleInstantHold(id, { isCheck: true })], tx);
  });
  return showRepositorySettings(deps, repository);
}

/**
 * Changes the defaults of an owner, which count at once in every repository without a value of its own.
 * @throws Refusal like `changeRepositorySettings`.
 */
export async function changeOwnerSettings(
  deps: GitHubDeps,
  actor: Actor,
  account: InstalledAccount,
  change: SettingsChange,
): Promise<ShownSettings> {
  const { id, login } = account;
  if (account.installation.suspendedAt) throw suspended(login);
  await assertLockApp(deps, change);
  const given = await resolved(deps, placeOfOwner(account), change);
  await deps.db.$transaction(async (tx) => {
    await lockAccount(tx, id);
    const row = await tx.account.findUniqueOrThrow({ where: { id }, select: { settings: true } });
    const before = ownOf(row);
    const after = merged(before, given);
    if (isDeepStrictEqual(before, after)) return;
    await tx.account.update({ where: { id }, data: { settings: after } });
    const shown = (own: OwnSettings) => presentSettings(effectiveSettings(own), login);
    const metadata = { settings_before: shown(before), settings_after: shown(after) };
    const event = { type: 'owner_settings.update', metadata } as const;
    await appendEvent(tx, { accountId: id }, event, actor, nowOf(deps.clock));
    if (before.instant_hold !== after.instant_hold) await settleHoldsOf(deps, tx, id);
  });
  return showOwnerSettings(deps, account);
}

/** @throws Refusal conflict if instant holds need a second App and there is none. */
async function assertLockApp(
  { github, config }: GitHubDeps,
  { instant_hold: mode }: SettingsChange,
): Promise<void> {
  if (!mode || mode === 'off' || (await github.lock.id()) !== null) return;
  throw conflict(
    `An instant hold needs a second GitHub App with the permission Administration: write. Create it on the settings page of the owner of the first App, or set LOCK_APP_ID and LOCK_PRIVATE_KEY: ${config.publicUrl}/help/instant-hold says how.`,
  );
}

/** Has the rulesets of an owner put in force or out of force, where there may be any. */
async function settleHoldsOf({ queue, clock }: GitHubDeps, tx: Tx, accountId: bigint): Promise<void> {
  const now = nowOf(clock);
  const ongoing = {
    deletedAt: null,
    startsAt: { lte: now },
    OR: [{ endsAt: null }, { endsAt: { gt: now } }],
  };
  const repositories = await tx.repository.findMany({
    where: { accountId, OR: [{ instantHold: { isNot: null } }, { freezes: { some: ongoing } }] },
    select: { id: true },
  });
  await queue.send(
    repositories.map(({ id }) => jobs.settleInstantHold(id, { isCheck: true })),
    tx,
  );
}

/** The change with people and teams as rows have them. */
async function resolved(deps: GitHubDeps, place: RolePlace, change: SettingsChange) {
  const { freezers, approvers, ...others } = change;
  const found = await findHolders(deps, place, {
    ...(freezers && { freezers }),
    ...(approvers && { approvers }),
  });
  return {
    ...others,
    ...(freezers !== undefined && { freezers: found.freezers ?? null }),
    ...(approvers !== undefined && { approvers: found.approvers ?? null }),
  };
}

/** What was set, with a change. A row has no null. */
function merged(before: OwnSettings, change: { [Column in keyof OwnSettings]?: unknown }): OwnSettings {
  const given = settingColumns.filter((column) => change[column] !== undefined);
  const after = { ...before, ...Object.fromEntries(given.map((column) => [column, change[column]])) };
  return Object.fromEntries(Object.entries(after).filter(([, value]) => value !== null)) as OwnSettings;
}

/** Columns that the version before reads, which may run beside this one or be installed again. */
function ofVersionBefore(own: OwnSettings) {
  const { twoPersonExemptions, longestOpenEndHours, commentCommands } = effectiveSettings(own);
  return {
    twoPersonExemptions,
    longestOpenEndHours,
    commentCommands: commentCommands !== false,
    commentsOnlyRequest: commentCommands === 'requests',
  };
}

/** The products in the order of the interface, so that equal sets look the same. */
const ordered = (chosen: readonly Product[]): Product[] =>
  productNames.filter((product) => chosen.includes(product));

/**
 * Sets the enabled products of a repository and updates its statuses: without `merge_protections` and `merge_queue`,
 * nothing is held.
 * @throws Refusal conflict if the repository cannot be written to.
 */
export async function setRepositoryProducts(
  deps: GitHubDeps,
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
    const changed = productNames.filter((product) => before.includes(product) !== after.includes(product));
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
  deps: GitHubDeps,
  actor: Actor,
  account: Account,
  chosen: readonly Product[],
): Promise<void> {
  const after = ordered(chosen);
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    const { id } = account;
    await lockAccount(tx, id);
    const { defaultProducts: before } = await tx.account.findUniqueOrThrow({ where: { id } });
    await tx.account.update({ where: { id }, data: { defaultProducts: after } });
    const metadata = { products_before: ordered(before), products_after: after };
    await appendEvent(tx, { accountId: id }, { type: 'default_products.update', metadata }, actor, now);
  });
}
