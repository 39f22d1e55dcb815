import { z } from '@hono/zod-openapi';
import type { Deps } from '../../deps.ts';
import {
  countRefusedOf,
  looseDeploymentsOf,
  planEnforcement,
} from '../../explanations/enforcement/progress.ts';
import {
  type Administered,
  administersAll,
  type InstalledAccount,
} from '../../installations/find-account.ts';
import { changeOccurrence } from '../../plans/change-occurrence.ts';
import { createPlan, deletePlan, updatePlan } from '../../plans/change-plan.ts';
import {
  matchedBy,
  matchedRepositories,
  plainNames,
  repositoriesOfOwner,
  touchedByChange,
} from '../../plans/matched-repositories.ts';
import { knownPlan, listPlans, requirePlan, type StoredPlan } from '../../plans/plan-store.ts';
import { loadPlan } from '../../plans/show-plan.ts';
import { nowOf } from '../../time/clock.ts';
import { pageAnswer, pageByIds, pagingHeaders, pagingQuery } from '../answers.ts';
import { endpoint } from '../endpoint.ts';
import { ownerParams } from '../fields.ts';
import { presentRefused, presentSeconds, refusedField, secondsField, toRefuse } from './enforcement.ts';
import { freezeDeletion } from './freeze-schemas.ts';
import {
  occurrenceChange,
  occurrencePath,
  presentChangedPlan,
  readOccurrenceChange,
} from './occurrence-schemas.ts';
import {
  exampleNewPlan,
  examplePlan,
  newPlan,
  notEnforcedSchema,
  planChangeSchema,
  planParams,
  planSchema,
  presentPlan,
  presentSavedPlan,
  readNewPlan,
  readPlanChange,
  savedPlanSchema,
} from './plan-schemas.ts';

const tag = 'Freeze plans';
const path = '/freeze_plans/{owner}';
const ofPlan = `${path}/{plan_id}` as const;

const globs = z.array(z.string());
const selection = z.object({ include: globs, exclude: globs.default([]) });
const namesOfBody = z.object({ repositories: selection });

type Named = { deps: Deps; account: InstalledAccount; path: Record<string, unknown>; json: unknown };

/** For admins of the owner, and for people who may freeze the repositories. */
const accessBy = <Of>(repositories: (call: Named) => Promise<Of>) =>
  ({ to: 'owner-or-repositories', repositories }) as const;

/** A person who may freeze every repository that a plan names may create it. */
export const accessByBody = accessBy(async ({ json }) => {
  return { all: namesOfBody.safeParse(json).data?.repositories ?? null };
});

/** Who may see a plan depends on the repositories that it names. */
const accessToSee = accessBy(async (call) => {
  const plan = await planOf(call);
  return { all: plan && plan.repositories };
});

/** Who may change a plan also depends on what it still freezes, and on what the change would make of it. */
const accessToChange = accessBy(async (call) => {
  const plan = await planOf(call);
  const added = namesOfBody.safeParse(call.json).data?.repositories.include;
  return { all: plan && (await touchedByChange(call.deps.db, plan, nowOf(call.deps.clock), added)) };
});

/** Finds plans that are over or deleted too, so that their owner learns that and a retried deletion gets its answer. */
const planOf = async ({ deps, account, path }: Named) => {
  const where = { id: path['plan_id'] as string, accountId: account.id };
  return (await knownPlan(deps.db, where, nowOf(deps.clock)))?.plan ?? null;
};

/** A person sees the plans that they may create. */
const accessByPlans = accessBy(async ({ deps, account }) => {
  const plans = await listPlans(deps.db, account.id, nowOf(deps.clock));
  return { anyOf: new Map(plans.map(({ id, repositories }) => [id, repositories])) };
});

/** Whether a person who may see a plan may change it. @param administered the repositories that they may freeze. */
async function mayChange(deps: Deps, plan: StoredPlan, administered: Administered): Promise<boolean> {
  if (administered === null || plan.source === null) return true;
  const { include } = await touchedByChange(deps.db, plan, nowOf(deps.clock));
  return administersAll(administered, plainNames(include));
}

const namesIn = ({ repositories }: StoredPlan): Administered =>
  new Set((plainNames(repositories.include) ?? []).map((name) => name.toLowerCase()));

type PlanCall = { deps: Deps; account: InstalledAccount; path: { plan_id: string } };
const planExists = ({ deps, account, path }: PlanCall) => requirePlan(deps.db, deps, account, path.plan_id);

export const listPlansEndpoint = endpoint({
  method: 'get',
  path,
  tag,
  summary: 'List the freeze plans of an owner that are not over, oldest first',
  description:
    'A person who may freeze repositories sees the plans that they could create. Holdfast asks GitHub about the first 50 repositories that plans name.',
  access: accessByPlans,
  params: ownerParams,
  query: z.object(pagingQuery(100)),
  success: {
    status: 200,
    description: 'A page of plans',
    headers: pagingHeaders,
    schema: z.object({ freeze_plans: z.array(planSchema) }).openapi('FreezePlans'),
    example: { freeze_plans: [examplePlan] },
  },
  async handle({ deps, account, allowed, query, url }) {
    const now = nowOf(deps.clock);
    const all = await repositoriesOfOwner(deps.sql, account.id);
    const plans = (await listPlans(deps.db, account.id, now)).filter(({ id }) => allowed?.has(id) ?? true);
    const page = pageByIds(plans, query, 'plan');
    const shown = [];
    for (const plan of page.items)
      shown.push(
        presentPlan(
          await loadPlan(deps.db, account, plan, now, matchedBy(plan, all)),
          await mayChange(deps, plan, allowed && namesIn(plan)),
        ),
      );
    return pageAnswer(url, { freeze_plans: shown }, page.cursors);
  },
});

export const createPlanEndpoint = endpoint({
  method: 'post',
  path,
  tag,
  summary: 'Plan freezes of many repositories, once or repeatedly',
  access: { ...accessByBody, isUrgent: true },
  params: ownerParams,
  body: { schema: newPlan, example: exampleNewPlan },
  success: { status: 201, description: 'The plan', schema: savedPlanSchema, example: examplePlan },
  handle: (call) => createPlan(call, readNewPlan(call.body), call.remember),
  present: presentSavedPlan,
});

const count = z.int();

export const showPlanEndpoint = endpoint({
  method: 'get',
  path: ofPlan,
  tag,
  summary: 'Show a freeze plan',
  access: accessToSee,
  params: planParams,
  success: { status: 200, description: 'The plan', schema: planSchema, example: examplePlan },
  async handle({ deps, account, administered, path }) {
    const plan = await requirePlan(deps.db, deps, account, path.plan_id);
    const matched = await matchedRepositories(deps.sql, plan);
    const shown = await loadPlan(deps.db, account, plan, nowOf(deps.clock), matched);
    return presentPlan(shown, await mayChange(deps, plan, administered));
  },
});

export const updatePlanEndpoint = endpoint({
  method: 'patch',
  path: ofPlan,
  tag,
  summary: 'Change the fields of a freeze plan that you send',
  description:
    'Changes freezes that have not begun, and ongoing freezes except for their start. Freezes that somebody changed or deleted separately stay as they are.',
  access: { ...accessToChange, releases: true },
  params: planParams,
  exists: planExists,
  body: { schema: planChangeSchema, example: { end: '2100-01-03T08:00:00' } },
  success: { status: 200, description: 'The plan', schema: savedPlanSchema, example: examplePlan },
  alsoRefuses: [400],
  handle: (call) => updatePlan(call, call.path.plan_id, readPlanChange(call.body)),
  present: presentSavedPlan,
});

export const changeOccurrenceEndpoint = endpoint({
  method: 'post',
  path: `${ofPlan}/occurrences/{start}`,
  tag,
  summary: 'Skip or move one occurrence of a freeze plan that repeats or follows a calendar',
  description:
    'The plan no longer changes the freezes of this occurrence, which stand in `detached`, and makes no others in their place. Of an ongoing occurrence, only the end can change. Several events of a calendar that start at the same time are changed together.',
  access: { ...accessToChange, releases: true },
  params: occurrencePath,
  exists: planExists,
  body: { schema: occurrenceChange, example: { skip: true } },
  success: { status: 200, description: 'The plan', schema: savedPlanSchema, example: examplePlan },
  alsoRefuses: [400],
  handle: ({ deps, actor, account, administered, path, body, remember }) =>
    changeOccurrence(
      deps,
      actor,
      account,
      administered,
      { id: path.plan_id, start: path.start, order: readOccurrenceChange(body) },
      remember,
    ),
  present: presentChangedPlan,
});

const deletion = {
  tag,
  access: { ...accessToChange, releases: true },
  params: planParams,
  exists: planExists,
  success: { status: 204, description: 'Deleted' },
} as const;
const exampleDeletion = { delete_reason: 'Books are open' };

export const deletePlanEndpoint = endpoint({
  ...deletion,
  method: 'post',
  path: `${ofPlan}/delete`,
  summary: 'Delete a freeze plan and its freezes that have not ended, with a reason',
  body: { schema: freezeDeletion, example: exampleDeletion },
  handle: (call) => deletePlan(call, call.path.plan_id, call.body.delete_reason, call.remember),
});

export const removePlanEndpoint = endpoint({
  ...deletion,
  method: 'delete',
  path: ofPlan,
  summary: 'Delete a freeze plan and its freezes that have not ended',
  description: 'For tools that manage plans as resources. The body is optional.',
  body: { schema: freezeDeletion.partial(), example: exampleDeletion, isOptional: true },
  handle: (call) => deletePlan(call, call.path.plan_id, call.body.delete_reason ?? 'No reason was given'),
});

export const planEnforcementEndpoint = endpoint({
  method: 'get',
  path: `${ofPlan}/enforcement`,
  tag,
  summary: 'See how much of the ongoing freezes of a plan is enforced, in all its repositories',
  access: accessToSee,
  params: planParams,
  success: {
    status: 200,
    description: 'The counts',
    schema: z
      .object({
        repositories: count,
        to_hold: count,
        held: count,
        to_refuse: toRefuse,
        waiting: count,
        ...secondsField,
        not_enforced: notEnforcedSchema,
        ...refusedField,
      })
      .openapi('FreezePlanEnforcement'),
    example: {
      ...{ repositories: 41, to_hold: 310, held: 298, to_refuse: 302, waiting: 12, seconds_until_held: 10 },
      not_enforced: ['acme/infra'],
    },
  },
  async handle({ deps, account, path }) {
    const plan = await requirePlan(deps.db, deps, account, path.plan_id);
    const { used } = await matchedRepositories(deps.sql, plan);
    const progress = await planEnforcement(deps, account, plan, used, { withBases: true });
    const { toHold, notEnforced, secondsUntilHeld, unjudged: _, bases, ...found } = progress;
    return {
      ...found,
      to_hold: toHold,
      to_refuse: await countRefusedOf(deps, bases),
      ...presentSeconds(found.waiting, secondsUntilHeld),
      not_enforced: [...new Set([...notEnforced, ...(await looseDeploymentsOf(deps, account, plan))])],
      ...(await presentRefused(deps)),
    };
  },
});
