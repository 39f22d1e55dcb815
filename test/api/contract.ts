// A request that succeeds for every route of the interface, and who may make it.
import { type Acme, freezeBody, planBody } from './acme.ts';

export type Audience = 'repository admins' | 'ci' | 'owner admins' | 'any key';

const scopes = { scopes: ['backend'] };
const products = { products: ['merge_queue'] };
const aPlan = async (acme: Acme) => (await acme.plan()).id;
const aFreeze = async (acme: Acme, repository: string) => (await acme.freeze({}, `acme/${repository}`)).id;

export type Terms = {
  for: Audience;
  success: number;
  body?: object;
  /** The id at the end of the path: of something made for this. */
  last?: (acme: Acme, repository: string) => Promise<string>;
};

/** The contract, by hand: whom each route lets in, and a request that succeeds. */
export const contract: Record<string, Terms> = {
  'put /repos/{owner}/{repository}/pulls/{number}/scopes': { for: 'ci', success: 204, body: scopes },
  'post /repos/{owner}/{repository}/pulls/{number}/scopes': { for: 'ci', success: 204, body: scopes },
  'get /repos/{owner}/{repository}/scheduled_freeze': { for: 'repository admins', success: 200 },
  'post /repos/{owner}/{repository}/scheduled_freeze': {
    for: 'repository admins',
    success: 201,
    body: freezeBody,
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
  'get /repos/{owner}/{repository}/pulls/{number}/freezes': { for: 'repository admins', success: 200 },
  'patch /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}': {
    for: 'repository admins',
    success: 200,
    body: { reason: 'Later' },
    last: aFreeze,
  },
  'delete /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}': {
    for: 'repository admins',
    success: 204,
    body: { delete_reason: 'Done' },
    last: aFreeze,
  },
  'post /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/delete': {
    for: 'repository admins',
    success: 204,
    body: { delete_reason: 'Done' },
    last: aFreeze,
  },
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
  'post /freeze_plans/{owner}/{plan_id}/delete': {
    for: 'owner admins',
    success: 204,
    body: { delete_reason: 'Done' },
    last: aPlan,
  },
  'get /freeze_plans/{owner}/{plan_id}/enforcement': { for: 'owner admins', success: 200, last: aPlan },
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
    .replace(/\{(freeze_id|application_id|plan_id)\}/, last)}`;
}
