import { permits, type Principal } from '../state/access.ts';
import { refusal } from './refusal.ts';
import type { Faults } from '../http/faults.ts';
import type { Repository } from '../state/model.ts';
import type { World } from '../state/world.ts';

/** What a query sees: the part of the world that the caller can see. */
export interface View {
  world: World;
  faults: Faults;
  principal: Principal;
  /** A recent instant, if the answer is stale; null: now. */
  asOf: number | null;
}

/** Refuses an installation without a permission. Public data needs none. */
export function demandPermission({ principal }: View, repository: Repository, permission: string): void {
  if (principal.kind !== 'installation' || !repository.private) return;
  if (permits(principal.token.permissions, permission, 'read')) return;
  throw refusal('FORBIDDEN', 'Resource not accessible by integration');
}
