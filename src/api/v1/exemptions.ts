import { z } from '@hono/zod-openapi';
import { exemptionStates } from '../../freezes/exemptions/exemption.ts';
import { type ExemptionKind, listExemptions } from '../../freezes/exemptions/exemption-store.ts';
import { type NewExemption, requestExemption } from '../../freezes/exemptions/request-exemption.ts';
import { greatestNumber } from '../../github/pull-requests/pull-request.ts';
import { mostFreezes } from '../../freezes/save-freeze.ts';
import { endpoint, HandlerAnswer } from '../endpoint.ts';
import { number, owner, repository, repositoryPath } from '../fields.ts';
import { linkHeader, linkHeaderDescription, pagingQuery } from '../paging.ts';
import {
  commit,
  exampleExemption,
  exemptionPath,
  exemptionSchema,
  givenReason,
  presentExemption,
  readWish,
  wish,
} from './exemption-schemas.ts';
import {
  assertMay,
  type Decision,
  decideExemption,
  requireExemption,
} from '../../freezes/exemptions/decide-exemption.ts';

const body = z
  .object({
    ...wish,
    freeze_ids: z
      .array(z.guid('Send the UUID of a freeze.'))
      .min(1, 'Send at least one freeze, or null for every freeze.')
      .max(mostFreezes, `Send at most ${mostFreezes} freezes, or null for every freeze.`)
      .nullish()
      .openapi({
        description: 'If null or absent, the exemption applies to every freeze, including future ones',
      }),
    any_head: z
      .boolean()
      .optional()
      .openapi({ description: 'If absent or false, a push to the pull request ends the exemption' }),
    head_sha: commit.openapi({
      description:
        'The head commit that you mean. If the pull request has another head, the answer is 409. If null or absent, the current head',
    }),
  })
  .openapi('NewExemption');

const readBody = (given: z.output<typeof body>): NewExemption => ({
  ...readWish(given),
  freezeIds: given.freeze_ids ? [...new Set(given.freeze_ids.map((id) => id.toLowerCase()))] : null,
  anyHead: given.any_head ?? false,
  headSha: given.head_sha ?? null,
});

export const requestExemptionEndpoint = endpoint({
  method: 'post',
  path: '/repos/{owner}/{repository}/pulls/{number}/exemptions',
  tag: 'Exemptions',
  summary: 'Exempt a pull request from freezes, or request an exemption',
  description:
    'The exemption of a repository admin is approved at once, unless the repository requires two people. The exemption of anybody else with write access is `requested`.',
  access: { to: 'repository', scope: 'admin', least: 'write', isLive: true },
  params: z.object({ owner, repository, number }),
  body: { schema: body, example: { reason: 'INC-4711 fix', expires_at: '2026-03-01T18:00:00Z' } },
  success: {
    status: 201,
    description: 'The exemption',
    schema: exemptionSchema,
    example: exampleExemption,
  },
  async handle({ deps, actor, repository, notAdmin, path, body, remember }) {
    const { publicUrl } = deps.config;
    const made = await requestExemption(
      deps,
      { actor, notAdmin },
      repository,
      path.number,
      readBody(body),
      (tx, exemption) =>
        remember(tx, { status: 201, body: presentExemption(exemption, repository, publicUrl) }),
    );
    return presentExemption(made, repository, publicUrl);
  },
});

const query = z.object({
  state: z.enum(exemptionStates).optional(),
  pull_request: z
    .string()
    .regex(/^(0|[1-9]\d{0,18})$/, 'Send the number of a pull request, such as 42.')
    .transform(BigInt)
    .optional()
    .openapi({ type: 'integer', minimum: 0 }),
  ...pagingQuery(30),
});

export const listExemptionsEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/exemptions',
  tag: 'Exemptions',
  summary: "List a repository's exemptions, newest first",
  description: 'Pages are linked by the `Link` header (`next`, `prev`).',
  access: { to: 'repository', scope: 'admin', least: 'write', role: 'approver' },
  params: repositoryPath,
  query,
  success: {
    status: 200,
    description: 'A page of exemptions, including those that are over',
    headers: { Link: linkHeaderDescription },
    schema: z.object({ exemptions: z.array(exemptionSchema) }).openapi('Exemptions'),
    example: { exemptions: [exampleExemption] },
  },
  async handle({ deps, repository, query: { state, pull_request, per_page, cursor }, url }) {
    // No pull request has a number beyond GitHub's range: -1 finds none.
    const pullRequest =
      pull_request === undefined ? undefined : pull_request > greatestNumber ? -1 : Number(pull_request);
    const page = { size: per_page, cursor };
    const filter = { of: 'pull request' as const, state, pullRequest };
    const { rows, older, newer } = await listExemptions(
      deps.db,
      { repositoryId: repository.id },
      filter,
      page,
    );
    const exemptions = rows.map((each) => presentExemption(each, repository, deps.config.publicUrl));
    return new HandlerAnswer(200, { exemptions }, linkHeader(url, { next: older, prev: newer }));
  },
});

/** What differs between the routes of exemptions of pull requests and of deployments. */
type Kind = {
  of: ExemptionKind;
  path: string;
  tag: string;
  schema: z.ZodType;
  example: object;
  present: (...of: Parameters<typeof presentExemption>) => object;
};

const reason = z.object({ reason: givenReason }).openapi('ExemptionDecision');
const optionalReason = z.object({ reason: givenReason.nullish() }).openapi('ExemptionApproval');

/** The routes that decide about an exemption, if there is one and the caller may. */
export function decisionEndpoints(kind: Kind) {
  /** @property least `write`: also for people who can write to the repository. */
  const decisionEndpoint = <Reason extends z.ZodType<{ reason?: string | null }>>(
    decision: Decision,
    {
      example,
      least,
      ...route
    }: {
      summary: string;
      description?: string;
      least?: 'write';
      body: { schema: Reason; example: object; isOptional?: true };
      example: object;
    },
  ) =>
    endpoint({
      ...route,
      access: { to: 'repository', scope: 'admin', least, role: 'approver', isLive: true },
      method: 'post',
      path: `${kind.path}/{exemption_id}/${decision}`,
      tag: kind.tag,
      params: exemptionPath,
      success: {
        status: 200,
        description: 'The exemption after the decision',
        schema: kind.schema,
        example: { ...kind.example, ...example },
      },
      exists: async ({ deps, repository, path, ...caller }) =>
        assertMay(decision, await requireExemption(deps.db, repository, path.exemption_id, kind.of), caller),
      async handle({ deps, actor, repository, notAdmin, path, body, remember }) {
        const { publicUrl } = deps.config;
        const call = { actor, notAdmin, decision, reason: body.reason ?? null };
        const decided = await decideExemption(deps, repository, path.exemption_id, call, (tx, exemption) =>
          remember(tx, { status: 200, body: kind.present(exemption, repository, publicUrl) }),
        );
        return kind.present(decided, repository, publicUrl);
      },
    });
  const what = kind.of === 'deployment' ? 'exemption of a deployment' : 'exemption';
  return [
    decisionEndpoint('approve', {
      summary: `Approve a requested ${what}`,
      description:
        'If the repository requires two people, the person who requested the exemption cannot approve it, and a key cannot approve the request of a key.',
      body: { schema: optionalReason, example: { reason: 'Agreed' }, isOptional: true },
      example: { decision_reason: 'Agreed' },
    }),
    decisionEndpoint('deny', {
      summary: `Deny a requested ${what}, with a reason`,
      body: { schema: reason, example: { reason: 'It can wait' } },
      example: { state: 'denied', decision_reason: 'It can wait' },
    }),
    decisionEndpoint('revoke', {
      summary: `Revoke a requested or approved ${what}, with a reason`,
      description:
        'Admins and approvers of the repository can revoke it, and so can the person who requested it.',
      least: 'write',
      body: { schema: reason, example: { reason: 'Fixed otherwise' } },
      example: { state: 'revoked', decision_reason: 'Fixed otherwise' },
    }),
  ];
}

export const exemptionDecisionEndpoints = decisionEndpoints({
  of: 'pull request',
  path: '/repos/{owner}/{repository}/exemptions',
  tag: 'Exemptions',
  schema: exemptionSchema,
  example: exampleExemption,
  present: presentExemption,
});
