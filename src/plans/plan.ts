import { attributesOf, type FreezeFields, type Unvalidated } from '../freezes/freeze.ts';
import type { Schedule } from './occurrences.ts';

/** A plan creates a freeze for each matching repository and each occurrence, with the fields of the plan. */
export type Plan = Required<FreezeFields> &
  Schedule & {
    id: string;
    accountId: bigint;
    name: string;
    /** Globs of the owner's repository names. */
    repositories: { include: string[]; exclude: string[] };
  };

/** A plan from a request, not validated yet. `start: null` means now. */
export type PlanInput = Unvalidated<Omit<Plan, 'id' | 'accountId'>>;

type OwnFields = Record<'name' | 'repositories' | 'recurrence', unknown>;
type SharedFields = Record<'reason' | 'public_reason' | 'start' | 'end' | 'timezone', unknown>;

/** Puts the fields that only a plan has among those of a freeze, as requests and answers do. */
export function inOrderOfPlan<Own extends OwnFields, Shared extends SharedFields>(own: Own, shared: Shared) {
  const { name, repositories, recurrence } = own;
  const { reason, public_reason, start, end, timezone, ...rest } = shared;
  const all = { name, reason, public_reason, repositories, start, end, timezone, recurrence, ...rest };
  return all as Pick<Own, keyof OwnFields> & Shared;
}

/** A plan in the form of the audit log and the API, without its id. */
export const attributesOfPlan = (plan: Omit<Plan, 'id' | 'accountId'>) =>
  inOrderOfPlan(plan, attributesOf(plan));
