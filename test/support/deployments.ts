// What stories about deployments share: an App with the permissions for them, and runs that wait.
import { expect } from 'vitest';
import type { Acme } from './acme.ts';

export const forDeployments = { deployments: 'write', actions: 'read' } as const;

/** The App asks for what deployments take, and acme accepts. */
export async function grantDeployments({ github, quiet }: Acme): Promise<void> {
  github.askForMore(forDeployments, ['deployment_protection_rule']);
  github.acceptPermissions('acme', github.app.permissions);
  await quiet();
}

/** Time passes in steps, as it does: what one step sends is done in the next. */
export async function pass(acme: Acme, milliseconds: number, step = 15_000): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += step)
    await acme.advanceTo(new Date(acme.clock.now() + step));
}

/** The types of the audit events about deployments of a repository, oldest first. */
export async function toldOf(acme: Acme, repository: string): Promise<string[]> {
  const answer = await acme.call('GET', `/v1/repos/${repository}/logs?per_page=100`, { as: acme.admin });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.events
    .map(({ type }: { type: string }) => type)
    .filter((type: string) => type.startsWith('deployment'))
    .toReversed();
}

/** What the App decided and reported on a run: `pending` is a report. */
export const decisions = ({ github }: Acme, repository: string, run: { id: number }): string[] =>
  github.reviewsOf(repository, run.id).map(({ state }) => state);
