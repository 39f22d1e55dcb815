import { conflict, forbidden, isConflict } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import { nowOf } from '../time/clock.ts';
import { type AppOwner, forgetLock, type NewApp, saveApp, savedLock } from './app-credentials-store.ts';
import { isForLock } from './app-manifest.ts';
import { askGitHub } from './ask-github.ts';
import type { GitHubDeps } from './github-deps.ts';

// The second App is one for all owners. Only admins of the owner of the first App make and forget it: they have the keys
// of that one, too. Every other owner decides whether to install it.

/** An admin of the owner of the first App. */
export type SecondAppAdmin = { accountId: bigint; actor: Actor };

/** The owner of the first App; null if that is no person or organization. @throws Refusal unavailable. */
export const ownerOfFirstApp = (deps: GitHubDeps): Promise<AppOwner | null> =>
  askGitHub(deps, 'App', 'who owns the first App', () => deps.github.owner());

/** Whether the first App belongs to an account. */
export const ownsFirstApp = ({ id }: { id: bigint }, owner: AppOwner): boolean => BigInt(owner.id) === id;

/**
 * Requires that admins of an account may make and forget the second App here.
 * @throws Refusal forbidden unless the first App belongs to the account; conflict if nothing can be sealed; unavailable.
 */
export async function assertMayMakeSecondApp(
  deps: GitHubDeps,
  account: { id: bigint; login: string },
): Promise<AppOwner> {
  const owner = await ownerOfFirstApp(deps);
  if (!owner || !ownsFirstApp(account, owner))
    throw forbidden(`The first App does not belong to ${account.login}, so its admins cannot do this.`);
  if (deps.config.lock !== null)
    throw conflict('The second App is set in the environment: change LOCK_APP_ID and LOCK_PRIVATE_KEY.');
  if (deps.config.secretKey === null)
    throw conflict('The key cannot be encrypted: ask the people who run this service to set SECRET_KEY.');
  return owner;
}

/**
 * Saves the second App that GitHub has just made, with its event.
 * @param owner of the first App. @param admin null: the setup page, whose owner may not be known yet.
 * @returns why it cannot be used; null if it is saved.
 */
export async function saveSecondApp(
  deps: GitHubDeps,
  app: NewApp,
  owner: AppOwner,
  admin: SecondAppAdmin | null,
): Promise<string | null> {
  const { db, clock, config, log } = deps;
  const problem = whyUnusable(app, owner, config.app.id);
  if (problem) return problem;
  const event = { type: 'lock_app.create', metadata: { app_id: app.id, app_slug: app.slug } } as const;
  try {
    await db.$transaction(async (tx) => {
      await saveApp(tx, config.secretKey!, app, nowOf(clock), 'lock');
      if (admin) await appendEvent(tx, admin, event, admin.actor, nowOf(clock));
    });
  } catch (error) {
    if (isConflict(error)) return 'Holdfast has a second App.';
    log.error({ err: error }, 'the credentials of the new App could not be saved');
    return 'Holdfast could not save its key. The log says why.';
  }
  deps.github.lock.lookAgain();
  log.info({ app: app.slug, id: app.id, by: admin?.actor.name }, 'the second GitHub App is set up');
  return null;
}

/** Why an App is not the second App that we asked for; null if it is. The code of GitHub may be of any App. */
function whyUnusable(app: NewApp, owner: AppOwner, firstId: number): string | null {
  if (app.owner?.id !== owner.id) return `${app.name} does not belong to ${owner.login}.`;
  if (app.id === firstId || !isForLock(app))
    return `${app.name} needs the permission Administration: write, and no other.`;
  return null;
}

/** Forgets the second App, with its event. @param appId its id; if somebody has replaced it, nothing changes. */
export async function forgetSecondApp(
  deps: GitHubDeps,
  { accountId, actor }: SecondAppAdmin,
  appId: string,
): Promise<void> {
  const saved = await savedLock(deps.db);
  if (!saved || String(saved.appId) !== appId) return;
  await deps.db.$transaction(async (tx) => {
    if (!(await forgetLock(tx, saved.appId))) return;
    const metadata = { app_id: Number(saved.appId), app_slug: saved.slug };
    const event = { type: 'lock_app.delete', metadata } as const;
    await appendEvent(tx, { accountId }, event, actor, nowOf(deps.clock));
  });
  deps.github.lock.lookAgain();
  deps.log.info({ app: saved.slug, by: actor.name }, 'the second GitHub App is forgotten');
}
