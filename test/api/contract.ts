// A request that succeeds for every route of the interface, and who may make it.
import type { AnyEndpoint } from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { type Acme, freezeBody, planBody, webhookBody } from './acme.ts';

export type Audience =
  'repository admins' | 'repository writers' | 'repository readers' | 'ci' | 'owner admins' | 'any key';

const scopes = { scopes: ['backend'] };
const oidcRule = { name: 'nobody', refs: ['refs/heads/nobody'], may: ['push_scopes'] };
const aWebhook = (acme: Acme) => acme.webhook();
/** One that failed, and the id of its webhook before it. */
async function aDelivery(acme: Acme) {
  const id = await acme.webhook();
  const made = await acme.call('POST', `/v1/webhooks/acme/${id}/test`, { as: acme.keys.admin });
  const state = { state: 'failed', nextAttemptAt: null };
  await acme.app.deps.db.outgoingDelivery.update({ where: { id: made.body.id }, data: state });
  return `${id}/deliveries/${made.body.id}`;
}
const calendar = { repositories: ['web'], public_text: false };
const products = { products: ['merge_queue'] };
const aPlan = async (acme: Acme) => (await acme.plan()).id;
const aFreeze = async (acme: Acme, repository: string) => (await acme.freeze({}, `acme/${repository}`)).id;

async function aDeletedFreeze(acme: Acme, repository: string): Promise<string> {
  const { id } = await acme.freeze({}, `acme/${repository}`);
  const path = `/v1/repos/acme/${repository}/scheduled_freeze/${id}/delete`;
  await acme.call('POST', path, { as: acme.keys.admin, body: { delete_reason: 'Done' } });
  return id;
}

/** Of a pull request of its own, which may have 20. @param who asks: a writer's is requested, an admin's is approved. */
const anExemption = (who: (acme: Acme) => string) => async (acme: Acme, repository: string) => {
  const { number } = acme.github.openPullRequest(`acme/${repository}`, { author: 'ada' });
  const path = `/v1/repos/acme/${repository}/pulls/${number}/exemptions`;
  const answer = await acme.call('POST', path, { as: who(acme), body: { reason: 'A fix' } });
  return answer.body.id as string;
};

const ofDeployment = { environment: 'production', sha: 'c'.repeat(40), reason: 'A fix' };
/** The same of a deployment. */
const aDeploymentExemption = (who: (acme: Acme) => string) => async (acme: Acme, repository: string) => {
  const path = `/v1/repos/acme/${repository}/deployment_exemptions`;
  const { body } = await acme.call('POST', path, { as: who(acme), body: ofDeployment });
  return body.id as string;
};

/** The routes that decide on exemptions. */
function decisionsOn(routes: string, make: typeof anExemption): Record<string, Terms> {
  const last = make(({ people }) => people.wes);
  const terms = { for: 'repository admins', success: 200, last } as const;
  return {
    [`post ${routes}/{exemption_id}/approve`]: { ...terms, body: {} },
    [`post ${routes}/{exemption_id}/deny`]: { ...terms, body: { reason: 'It can wait' } },
    // Who requested it may as well: test/two-people.test.ts.
    [`post ${routes}/{exemption_id}/revoke`]: {
      ...terms,
      body: { reason: 'Fixed otherwise' },
      last: make(({ keys }) => keys.admin),
      declares: { for: 'repository writers' },
    },
  };
}

export type Terms = {
  for: Audience;
  success: number;
  body?: object;
  /** What a rule must allow a job, if it is more than a CI key can do. */
  job?: 'freeze';
  /** What the route declares instead, if its handler then refuses more of them. */
  declares?: { for?: Audience; job?: 'freeze' };
  /** The id at the end of the path: of something made for this. */
  last?: (acme: Acme, repository: string) => Promise<string>;
};

/** Jobs change and end what jobs under the same rule made: test/jobs-bring-their-own-tokens.test.ts. */
const ofItsJobs = { job: 'freeze' } as const;

/** The contract, by hand: the callers that each route allows, and a request that succeeds. */
export const contract: Record<string, Terms> = {
  'put /repos/{owner}/{repository}/pulls/{number}/scopes': { for: 'ci', success: 204, body: scopes },
  'post /repos/{owner}/{repository}/pulls/{number}/scopes': { for: 'ci', success: 204, body: scopes },
  'get /repos/{owner}/{repository}/scheduled_freeze': { for: 'repository admins', success: 200 },
  'post /repos/{owner}/{repository}/scheduled_freeze': {
    for: 'repository admins',
    success: 201,
    body: freezeBody,
    job: 'freeze',
  },
  'post /repos/{owner}/{repository}/scheduled_freeze/preview': {
    for: 'repository admins',
    success: 200,
    body: freezeBody,
  },
  'get /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/enforcement': {
    for: 'repository admins',
    success: 200,
    last: aFreeze,
  },
  'get /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/report': {
    for: 'repository admins',
    success: 200,
    last: aFreeze,
  },
  'get /repos/{owner}/{repository}/pulls/{number}/freezes': { for: 'repository admins', success: 200 },
  'patch /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}': {
    for: 'repository admins',
    success: 200,
    body: { reason: 'Later' },
    last: aFreeze,
    declares: ofItsJobs,
  },
  'delete /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}': {
    for: 'repository admins',
    success: 204,
    body: { delete_reason: 'Done' },
    last: aFreeze,
    declares: ofItsJobs,
  },
  'post /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/delete': {
    for: 'repository admins',
    success: 204,
    body: { delete_reason: 'Done' },
    last: aFreeze,
    declares: ofItsJobs,
  },
  'post /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/restore': {
    for: 'repository admins',
    success: 200,
    last: aDeletedFreeze,
    declares: ofItsJobs,
  },
  'get /repos/{owner}/{repository}/freeze_state': { for: 'repository readers', success: 200 },
  'get /repos/{owner}/{repository}/merge-queue/pause': { for: 'repository admins', success: 200 },
  'put /repos/{owner}/{repository}/merge-queue/pause': {
    for: 'repository admins',
    success: 200,
    body: { reason: 'Broken main' },
  },
  'delete /repos/{owner}/{repository}/merge-queue/pause': { for: 'repository admins', success: 204 },
  'get /repos/{owner}/{repository}/merge-queue/status': { for: 'repository admins', success: 200 },
  'get /repos/{owner}/{repository}/merge-queue/pull/{number}': {
    for: 'repository admins',
    success: 200,
    async last({ github }, repository) {
      github.enqueue(`acme/${repository}`, 1);
      return '';
    },
  },
  'get /repos/{owner}/{repository}/settings': { for: 'repository admins', success: 200 },
  'patch /repos/{owner}/{repository}/settings': {
    for: 'repository admins',
    success: 200,
    body: { longest_open_end_hours: 72 },
  },
  'get /settings/{owner}': { for: 'owner admins', success: 200 },
  'patch /settings/{owner}': { for: 'owner admins', success: 200, body: { comment_commands: true } },
  'post /repos/{owner}/{repository}/pulls/{number}/exemptions': {
    for: 'repository writers',
    success: 201,
    body: { reason: 'A fix' },
  },
  'get /repos/{owner}/{repository}/deployments': { for: 'repository writers', success: 200 },
  'get /repos/{owner}/{repository}/exemptions': { for: 'repository writers', success: 200 },
  ...decisionsOn('/repos/{owner}/{repository}/exemptions', anExemption),
  'post /repos/{owner}/{repository}/deployment_exemptions': {
    for: 'repository writers',
    success: 201,
    body: ofDeployment,
  },
  'get /repos/{owner}/{repository}/deployment_exemptions': { for: 'repository writers', success: 200 },
  ...decisionsOn('/repos/{owner}/{repository}/deployment_exemptions', aDeploymentExemption),
  'get /freeze_plans/{owner}': { for: 'owner admins', success: 200 },
  'post /freeze_plans/{owner}': { for: 'owner admins', success: 201, body: planBody },
  'post /freeze_plans/{owner}/preview': { for: 'owner admins', success: 200, body: planBody },
  'get /freeze_plans/{owner}/{plan_id}': { for: 'owner admins', success: 200, last: aPlan },
  'patch /freeze_plans/{owner}/{plan_id}': {
    for: 'owner admins',
    success: 200,
    body: { reason: 'Later' },
    last: aPlan,
  },
  'post /freeze_plans/{owner}/{plan_id}/occurrences/{start}': {
    for: 'owner admins',
    success: 200,
    body: { skip: true },
    last: async (acme) => `${await aPlan(acme)}/occurrences/${planBody.start}`,
  },
  'post /freeze_plans/{owner}/{plan_id}/delete': {
    for: 'owner admins',
    success: 204,
    body: { delete_reason: 'Done' },
    last: aPlan,
  },
  'delete /freeze_plans/{owner}/{plan_id}': {
    for: 'owner admins',
    success: 204,
    body: { delete_reason: 'Done' },
    last: aPlan,
  },
  'get /freeze_plans/{owner}/{plan_id}/enforcement': { for: 'owner admins', success: 200, last: aPlan },
  'get /webhooks/{owner}': { for: 'owner admins', success: 200 },
  'post /webhooks/{owner}': { for: 'owner admins', success: 201, body: webhookBody },
  'patch /webhooks/{owner}/{webhook_id}': {
    for: 'owner admins',
    success: 200,
    body: { description: 'Ops' },
    last: aWebhook,
  },
  'delete /webhooks/{owner}/{webhook_id}': { for: 'owner admins', success: 204, last: aWebhook },
  'post /webhooks/{owner}/{webhook_id}/rotate_secret': { for: 'owner admins', success: 200, last: aWebhook },
  'post /webhooks/{owner}/{webhook_id}/test': { for: 'owner admins', success: 202, last: aWebhook },
  'get /webhooks/{owner}/{webhook_id}/deliveries': { for: 'owner admins', success: 200, last: aWebhook },
  'post /webhooks/{owner}/{webhook_id}/deliveries/{delivery_id}/replay': {
    for: 'owner admins',
    success: 202,
    last: aDelivery,
  },
  'put /products/{owner}/{repository}': { for: 'repository admins', success: 204, body: products },
  'get /default_products/{owner}': { for: 'owner admins', success: 200 },
  'put /default_products/{owner}': { for: 'owner admins', success: 204, body: products },
  'get /repos/{owner}': { for: 'owner admins', success: 200 },
  'get /application': { for: 'any key', success: 200 },
  'get /applications/{owner}': { for: 'owner admins', success: 200 },
  'post /applications/{owner}': {
    for: 'owner admins',
    success: 201,
    body: { name: 'tool', scope: 'ci' },
  },
  'delete /applications/{owner}/{application_id}': {
    for: 'owner admins',
    success: 204,
    last: async (acme) => {
      const body = { name: 'short-lived', scope: 'ci' };
      return (await acme.call('POST', '/v1/applications/acme', { as: acme.keys.admin, body })).body.id;
    },
  },
  'get /calendars/{owner}': { for: 'owner admins', success: 200 },
  'post /calendars/{owner}': { for: 'owner admins', success: 201, body: calendar },
  'delete /calendars/{owner}/{calendar_id}': {
    for: 'owner admins',
    success: 204,
    last: async (acme) =>
      (await acme.call('POST', '/v1/calendars/acme', { as: acme.keys.admin, body: calendar })).body.id,
  },
  'get /oidc_rules/{owner}': { for: 'owner admins', success: 200 },
  'post /oidc_rules/{owner}': { for: 'owner admins', success: 201, body: oidcRule },
  'delete /oidc_rules/{owner}/{rule_id}': {
    for: 'owner admins',
    success: 204,
    last: async (acme) =>
      (await acme.call('POST', '/v1/oidc_rules/acme', { as: acme.keys.admin, body: oidcRule })).body.id,
  },
  'get /repos/{owner}/{repository}/enforcement': { for: 'repository admins', success: 200 },
  'get /logs/{owner}': { for: 'owner admins', success: 200 },
  'get /repos/{owner}/{repository}/logs': { for: 'repository admins', success: 200 },
};

/** The path of a request, of OpenAPI's form of it. */
export function pathOf(
  template: string,
  { owner = 'acme', repository = 'web', last = '' }: { owner?: string; repository?: string; last?: string },
): string {
  return `/v1${template
    .replace('{owner}', owner)
    .replace('{repository}', repository)
    .replace('{number}', '1')
    .replace(
      '{webhook_id}/deliveries/{delivery_id}',
      last.includes('/') ? last : `${last}/deliveries/${last}`,
    )
    .replace(
      '{plan_id}/occurrences/{start}',
      last.includes('/') ? last : `${last}/occurrences/${planBody.start}`,
    )
    .replace(/\{(freeze_id|application_id|exemption_id|plan_id|rule_id|webhook_id|calendar_id)\}/, last)}`;
}

/** A route as the contract names it. */
export const nameOf = ({ method, path }: AnyEndpoint): string => `${method} ${path}`;

/**
 * What alone decides who may call a route: what it declares, and with an owner's whether it changes something. How old an
 * answer may be, and from which part of the hour it comes, decides nothing else.
 */
export function kindOf({
  access: { isUrgent: _, isLive: __, releases: ___, ...access },
  method,
}: AnyEndpoint): string {
  const words = Object.entries(access).map(([name, value]) =>
    typeof value === 'function' ? `${name} ${functions.indexOf(value)}` : `${name} ${String(value)}`,
  );
  return [...words, ...(access.to.startsWith('owner') ? [method === 'get' ? 'reads' : 'changes'] : [])].join(
    ', ',
  );
}
const functions = [...new Set(endpoints.map(({ access }) => access.repositories).filter(Boolean))];
