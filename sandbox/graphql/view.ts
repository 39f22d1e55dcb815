import { permits, type Principal } from '../state/access.ts';
import { refusal } from './refusal.ts';
import type { Faults } from '../http/faults.ts';
import type { Repository } from '../state/model.ts';
import type { World } from '../state/world.ts';

/** What a query sees: the world as the caller may see it. */
export interface View {
  world: World;
  faults: Faults;
  principal: Principal;
  /** An instant of a short while ago, where the answer is stale; null: now. */
  asOf: number | null;
}

/** Refuses an installation that was not granted a permission; public data needs none. */
export function demandPermission({ principal }: View, repository: Repository, permission: string): void {
  if (principal.kind !== 'installation' || !repository.private) return;
  if (permits(principal.token.permissions, permission, 'read')) return;
  throw refusal('FORBIDDEN', 'Resource not accessible by integration');
}
