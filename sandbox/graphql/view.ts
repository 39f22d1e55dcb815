import { permits, type Principal } from '../state/access.ts';
import { refusal } from './refusal.ts';
import type { Faults } from '../http/faults.ts';
import { ofFields } from '../state/route-permissions.ts';
import type { World } from '../state/world.ts';

/** What a query sees: the part of the world that the caller can see. */
export interface View {
  world: World;
  faults: Faults;
  principal: Principal;
  /** A recent instant, if the answer is stale; null: now. */
  asOf: number | null;
}

/** Refuses an installation without the permission that a field needs. */
export function demandPermission(principal: Principal, type: string, field: string): void {
  const permission = ofFields[`${type}.${field}`] ?? ofFields[type];
  if (principal.kind !== 'installation' || permission === undefined) return;
  if (permits(principal.token.permissions, permission, 'read')) return;
  throw refusal('FORBIDDEN', 'Resource not accessible by integration');
}
