// Whether GitHub would let a token do what the sandbox let it do, and whether the sandbox refused what GitHub would not.
import type { RecordedExchange } from '../support/record-github.ts';
import { neededForRoute, suffices } from './permissions.ts';

const refused = /^Resource not accessible by integration/;

/** @param route in GitHub's words. */
export function faultsOfPermissions(route: string, exchange: RecordedExchange): string[] {
  const { caller, permissions, isPrivate, method, status, answer } = exchange;
  if (caller !== 'installation') return [];
  const needs = neededForRoute(route);
  if (!needs) return ['permissions.ts does not say what it needs'];
  return compared(needs, {
    has: permissions!,
    isOpen: method === 'GET' && !isPrivate,
    isDone: status < 300,
    isRefused: refused.test((answer as { message?: string } | null)?.message ?? ''),
  });
}

/** @property isOpen whether GitHub lets everybody read it. */
type Outcome = { has: Record<string, string>; isOpen: boolean; isDone: boolean; isRefused: boolean };

export function compared(needs: string[], { has, isOpen, isDone, isRefused }: Outcome): string[] {
  const isEnough = suffices(has, needs);
  if (isDone && !isEnough && !isOpen) return [`is done without ${needs.join(' or ')}`];
  return isRefused && isEnough && needs.length > 0 ? [`is refused with ${needs.join(' or ')}`] : [];
}
