import type { Context } from 'hono';
import { nowOf } from '../../clock.ts';
import { repositoriesOfIds } from '../../installations/repository-rows.ts';
import { plainNames, matchedBy, repositoriesOfOwner } from '../../plans/matched-repositories.ts';
import { findPlan, type StoredPlan } from '../../plans/plan-store.ts';
import { type OpenedOwner, openOwnerPage } from '../owner/open-owner.ts';
import { absentPage, type PageDeps } from '../reader.ts';

/** A plan that the viewer may see: as an admin of the owner, or because they can read every repository that it matches. */
export type OpenedPlan = OpenedOwner & { plan: StoredPlan };

/** @returns the response to send if there is no page to show. */
export async function openPlanPage(deps: PageDeps, context: Context): Promise<OpenedPlan | Response> {
  const opened = await openOwnerPage(deps, context);
  if (opened instanceof Response) return opened;
  const plan = await findShownPlan(deps, opened, context.req.param('plan') ?? '');
  return plan ? { ...opened, plan } : absentPage(deps, context, opened.viewer);
}

/** The plan with this id if the viewer of an owner's page may see it, else null. */
export async function findShownPlan(
  deps: PageDeps,
  { account, repositories, isAdmin }: OpenedOwner,
  id: string,
): Promise<StoredPlan | null> {
  if (!isUuid(id)) return null;
  const plan = await findPlan(deps.db, { id, accountId: account.id }, nowOf(deps.clock));
  if (!plan || isAdmin) return plan;
  const readable = new Set(repositories.map((each) => each.id));
  const matched = matchedBy(plan, await repositoriesOfOwner(deps.sql, account.id));
  return matched.length > 0 && matched.every((each) => readable.has(each.id)) ? plan : null;
}

/**
 * Whether the viewer may read everything that the form of a plan has: as an admin of the owner, or of every repository
 * that the plan names one by one.
 * @throws Refusal unavailable or too-many-requests as `permission`.
 */
export async function mayEdit(deps: PageDeps, opened: OpenedPlan): Promise<boolean> {
  const { plan, repositories, viewer, isAdmin } = opened;
  if (isAdmin || !viewer) return isAdmin;
  const names = plainNames(plan.repositories.include)?.map((name) => name.toLowerCase());
  const named = repositories.filter(({ name }) => names?.includes(name.toLowerCase()));
  if (!names || named.length < new Set(names).size) return false;
  const found = await repositoriesOfIds(
    deps.sql,
    named.map(({ id }) => id),
  );
  for (const repository of found)
    if ((await deps.permissions.ofRepository(deps, viewer, repository)) !== 'admin') return false;
  return true;
}

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
