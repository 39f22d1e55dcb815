import { z } from '@hono/zod-openapi';
import type { Deps } from '../../deps.ts';
import {
  assertMay,
  decideExemption,
  type Decision,
  requireExemption,
} from '../../exemptions/decide-exemption.ts';
import {
  type ExemptionKind,
  type ExemptionRecord,
  listExemptions,
} from '../../exemptions/exemption-store.ts';
import { exemptionStates } from '../../exemptions/exemption.ts';
import { requestDeploymentExemption, requestExemption } from '../../exemptions/request-exemption.ts';
import { greatestNumber } from '../../github/pull-requests/pull-request.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { pageAnswer, pagingHeaders, pagesAreLinked, pagingQuery } from '../answers.ts';
import { endpoint } from '../endpoint.ts';
import { pullRequestNumber, owner, repository, repositoryParams, uuid } from '../fields.ts';
import {
  deploymentExemptionSchema,
  exampleDeploymentExemption,
  exampleExemption,
  exemptionSchema,
  givenReason,
  newDeploymentExemption,
  newExemption,
  presentDeploymentExemption,
  presentExemption,
  readDeploymentExemption,
  readNewExemption,
} from './exemption-schemas.ts';

/** What differs between the routes of exemptions of pull requests and of deployments. */
type KindOfExemption = {
  of: ExemptionKind;
  path: string;
  tag: string;
  /** The field of a list, and the name of its schema. */
  list: string;
  schemaOfList: string;
  schema: z.ZodType;
  example: object;
  present: (...of: Parameters<typeof presentExemption>) => object;
};

const ofPullRequests: KindOfExemption = {
  of: 'pull request',
  path: '/repos/{owner}/{repository}/exemptions',
  tag: 'Exemptions',
  list: 'exemptions',
  schemaOfList: 'Exemptions',
  schema: exemptionSchema,
  example: exampleExemption,
  present: presentExemption,
};

const deploymentExemptions: KindOfExemption = {
  of: 'deployment',
  path: '/repos/{owner}/{repository}/deployment_exemptions',
  tag: 'Deployments',
  list: 'deployment_exemptions',
  schemaOfList: 'DeploymentExemptions',
  schema: deploymentExemptionSchema,
  example: exampleDeploymentExemption,
  present: presentDeploymentExemption,
};

const presentBy =
  ({ present }: KindOfExemption) =>
  (exemption: ExemptionRecord, { deps, repository }: { deps: Deps; repository: FoundRepository }) =>
    present(exemption, repository, deps.config.publicUrl);

/** What the routes that request an exemption share. */
const requestOf = ({ tag, schema, example }: KindOfExemption) =>
  ({
    method: 'post',
    tag,
    access: { to: 'repository', scope: 'admin', least: 'write', isLive: true },
    success: { status: 201, description: 'The exemption', schema, example },
  }) as const;

export const requestExemptionEndpoint = endpoint({
  ...requestOf(ofPullRequests),
  path: '/repos/{owner}/{repository}/pulls/{number}/exemptions',
  summary: 'Exempt a pull request from freezes, or request an exemption',
  description:
    'The exemption of a repository admin is approved at once, unless the repository requires two people. The exemption of anybody else with write access is `requested`.',
  params: z.object({ owner, repository, number: pullRequestNumber }),
  body: { schema: newExemption, example: { reason: 'INC-4711 fix', expires_at: null } },
  async handle({ deps, actor, repository, notAdmin, path, body, remember }) {
    const wanted = readNewExemption(body);
    return requestExemption(deps, { actor, notAdmin }, repository, path.number, wanted, remember);
  },
  present: presentBy(ofPullRequests),
});

export const requestDeploymentExemptionEndpoint = endpoint({
  ...requestOf(deploymentExemptions),
  path: deploymentExemptions.path,
  summary: 'Exempt a deployment from freezes, or request an exemption',
  description:
    'For one environment, and one commit or one run, which may not exist yet. One deployment goes out with it: the first run of that commit, or the newest if several wait. The exemption of a repository admin is approved at once, unless the repository requires two people. The exemption of anybody else with write access is `requested`.',
  params: repositoryParams,
  body: {
    schema: newDeploymentExemption,
    example: {
      environment: 'production',
      sha: exampleDeploymentExemption.sha,
      reason: 'INC-4711 fix',
    },
  },
  async handle({ deps, actor, repository, notAdmin, body, remember }) {
    const wanted = readDeploymentExemption(body);
    return requestDeploymentExemption(deps, { actor, notAdmin }, repository, wanted, remember);
  },
  present: presentBy(deploymentExemptions),
});

/** What the routes that list exemptions share. */
const listOf = ({ path, tag, list, schemaOfList, schema, example }: KindOfExemption) =>
  ({
    method: 'get',
    path,
    tag,
    description: pagesAreLinked,
    access: { to: 'repository', scope: 'admin', least: 'write', role: 'approver' },
    params: repositoryParams,
    success: {
      status: 200,
      description: 'A page of exemptions, including those that are over',
      headers: pagingHeaders,
      schema: z.object({ [list]: z.array(schema) }).openapi(schemaOfList),
      example: { [list]: [example] },
    },
  }) as const;

const state = z.enum(exemptionStates).optional();
type ListCall = {
  deps: Deps;
  repository: FoundRepository;
  query: { state?: z.output<typeof state>; per_page: number; cursor?: string };
  url: string;
};

async function listedExemption(
  kind: KindOfExemption,
  { deps, repository, query, url }: ListCall,
  pullRequest?: number,
) {
  const filter = { of: kind.of, state: query.state, pullRequest };
  const page = { size: query.per_page, cursor: query.cursor };
  const place = { repositoryId: repository.id };
  const { rows, older, newer } = await listExemptions(deps.db, place, filter, page);
  const shown = rows.map((each) => kind.present(each, repository, deps.config.publicUrl));
  return pageAnswer(url, { [kind.list]: shown }, { next: older, prev: newer });
}

export const listExemptionsEndpoint = endpoint({
  ...listOf(ofPullRequests),
  summary: "List a repository's exemptions, newest first",
  query: z.object({
    state,
    pull_request: z
      .string()
      .regex(/^(0|[1-9]\d{0,18})$/, 'Send the number of a pull request, such as 42.')
      .transform(BigInt)
      .optional()
      .openapi({ type: 'integer', minimum: 0 }),
    ...pagingQuery(30),
  }),
  async handle(call) {
    const { pull_request: asked } = call.query;
    // No pull request has a number beyond GitHub's range: -1 finds none.
    const pullRequest = asked === undefined ? undefined : asked > greatestNumber ? -1 : Number(asked);
    return listedExemption(ofPullRequests, call, pullRequest);
  },
});

export const listDeploymentExemptionsEndpoint = endpoint({
  ...listOf(deploymentExemptions),
  summary: "List a repository's exemptions of deployments, newest first",
  query: z.object({ state, ...pagingQuery(30) }),
  handle: (call) => listedExemption(deploymentExemptions, call),
});

const reason = z.object({ reason: givenReason }).openapi('ExemptionDecision');
const optionalReason = z.object({ reason: givenReason.nullish() }).openapi('ExemptionApproval');

/** The routes that decide about an exemption, if there is one and the caller may. */
function decisionEndpoints(kind: KindOfExemption) {
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
      access: { to: 'repository', scope: 'admin', least, role: 'approver', isLive: true, releases: true },
      method: 'post',
      path: `${kind.path}/{exemption_id}/${decision}`,
      tag: kind.tag,
      params: z.object({ owner, repository, exemption_id: uuid('exemption_id') }),
      success: {
        status: 200,
        description: 'The exemption after the decision',
        schema: kind.schema,
        example: { ...kind.example, ...example },
      },
      exists: async ({ deps, repository, path, ...caller }) =>
        assertMay(decision, await requireExemption(deps.db, repository, path.exemption_id, kind.of), caller),
      async handle({ deps, actor, repository, notAdmin, path, body, remember }) {
        const call = { actor, notAdmin, decision, reason: body.reason ?? null };
        return decideExemption(deps, repository, path.exemption_id, call, remember);
      },
      present: presentBy(kind),
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

export const exemptionDecisionEndpoints = decisionEndpoints(ofPullRequests);
export const deploymentExemptionDecisionEndpoints = decisionEndpoints(deploymentExemptions);
