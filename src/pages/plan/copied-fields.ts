import { readUuid } from '../../api/fields.ts';
import { freezeRecord, repositoryIdOf } from '../../freezes/list-freezes.ts';
import { findShownPlan, type OwnerVisit } from '../owner/open-owner.ts';
import { mayChangePlan } from './plan-actions.ts';
import { fieldsOfPlan, type PlanFields } from './plan-form.ts';

/** The fields of a plan or a freeze that is copied, also one that is over; null if there is none that the viewer could change. */
export async function copiedFields(visit: OwnerVisit, id: string | null): Promise<PlanFields | null> {
  if (readUuid(id) === null) return null;
  const { deps, repositories, isAdmin, permissions } = visit;
  const found = await findShownPlan(visit, id!);
  if (found) return (await mayChangePlan({ ...visit, ...found })) ? fieldsOfPlan(found.plan) : null;
  const repositoryId = await repositoryIdOf(deps.db, id!);
  const repository = repositories.find((each) => each.id === repositoryId);
  if (!repository || !(isAdmin || permissions.get(repository.id) === 'admin')) return null;
  const freeze = await freezeRecord(deps.db, repository.id, id!);
  const all = { include: [repository.name], exclude: [] };
  return freeze && fieldsOfPlan({ ...freeze, name: '', repositories: all, recurrence: null, source: null });
}
