import { z } from '@hono/zod-openapi';
import type { AuthorizedRepository } from '../../auth/authorize.ts';
import {
  assertMay,
  type Decision,
  decideExemption,
  requireExemption,
} from '../../exemptions/decide-exemption.ts';
import type { Deps } from '../../deps.ts';
import type { Actor } from '../../events/actor.ts';
import { type Call, endpoint } from '../endpoint.ts';
import {
  exampleExemption,
  exemptionPath,
  exemptionSchema,
  givenReason,
  presentExemption,
} from './exemption-schemas.ts';

const path = '/repos/{owner}/{repository}/exemptions/{exemption_id}';

const reason = z.object({ reason: givenReason }).openapi('ExemptionDecision');
const optionalReason = z.object({ reason: givenReason.nullish() }).openapi('ExemptionApproval');

type Path = z.output<typeof exemptionPath>;
type Found = AuthorizedRepository & { deps: Deps; actor: Actor; path: Path };

/** Refuses if the exemption does not exist, or if the caller may not make this decision. */
const mayDecide =
  (decision: Decision) =>
  async ({ deps, repository, path, ...caller }: Found) =>
    assertMay(decision, await requireExemption(deps.db, repository, path.exemption_id), caller);

const shared = {
  method: 'post',
  tag: 'Exemptions',
  params: exemptionPath,
  success: {
    status: 200,
    description: 'The exemption after the decision',
    schema: exemptionSchema,
  },
} as const;

const success = (example: Partial<typeof exampleExemption>) => ({
  ...shared.success,
  example: { ...exampleExemption, ...example },
});

/** Makes the route's decision, and answers with the exemption. */
async function decide(
  decision: Decision,
  {
    deps,
    actor,
    repository,
    notAdmin,
    path,
    body,
    remember,
  }: Call<{ to: 'repository'; scope: 'admin' }, Path, unknown, { reason?: string | null }>,
) {
  const { publicUrl } = deps.config;
  const call = { actor, notAdmin, decision, reason: body.reason ?? null };
  const decided = await decideExemption(deps, repository, path.exemption_id, call, (tx, exemption) =>
    remember(tx, { status: 200, body: presentExemption(exemption, repository, publicUrl) }),
  );
  return presentExemption(decided, repository, publicUrl);
}

export const approveExemptionEndpoint = endpoint({
  ...shared,
  path: `${path}/approve`,
  summary: 'Approve a requested exemption',
  description:
    'If the repository requires two people, the person who requested the exemption cannot approve it, and a key cannot approve the request of a key.',
  access: { to: 'repository', scope: 'admin', isLive: true },
  body: { schema: optionalReason, example: { reason: 'Agreed' }, isOptional: true },
  success: success({ decision_reason: 'Agreed' }),
  exists: mayDecide('approve'),
  handle: (call) => decide('approve', call),
});

export const denyExemptionEndpoint = endpoint({
  ...shared,
  path: `${path}/deny`,
  summary: 'Deny a requested exemption, with a reason',
  access: { to: 'repository', scope: 'admin', isLive: true },
  body: { schema: reason, example: { reason: 'It can wait' } },
  success: success({ state: 'denied', decision_reason: 'It can wait' }),
  exists: mayDecide('deny'),
  handle: (call) => decide('deny', call),
});

export const revokeExemptionEndpoint = endpoint({
  ...shared,
  path: `${path}/revoke`,
  summary: 'Revoke a requested or approved exemption, with a reason',
  description: 'Admins of the repository can revoke it, and so can the person who requested it.',
  access: { to: 'repository', scope: 'admin', least: 'write', isLive: true },
  body: { schema: reason, example: { reason: 'Fixed otherwise' } },
  success: success({ state: 'revoked', decision_reason: 'Fixed otherwise' }),
  exists: mayDecide('revoke'),
  handle: (call) => decide('revoke', call),
});
