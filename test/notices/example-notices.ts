import type { DeliveredType, Notice } from '../../src/notices/notice.ts';

const ada = { type: 'user', id: 1, name: 'ada' } as const;
const bob = { type: 'user', id: 2, name: 'bob' } as const;
const at = new Date('2026-12-31T17:00:00Z');
const page = 'https://holdfast.example';

const freeze = {
  id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
  reason: 'INC-9: the payment provider is down',
  public_reason: 'An incident',
  start: '2026-12-31T18:00:00',
  end: '2027-01-01T09:00:00',
  timezone: 'Europe/Paris',
  matching_conditions: ['base=main'],
  exclude_conditions: ['label=hotfix'],
};
const exemption = {
  id: '0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11',
  pull_request: 7,
  head_sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
  reason: 'Fixes INC-9',
  public_reason: null,
  any_head: false,
  state: 'requested',
  requested_by: bob,
  expires_at: '2027-01-01T16:00:00.000Z',
};

const about = (type: DeliveredType): Notice => ({
  id: `msg_${type}`,
  type,
  at,
  late: false,
  owner: 'acme',
  repository: 'acme/web',
  pullRequest: null,
  actor: null,
  url: `${page}/repos/acme/web/freezes/${freeze.id}`,
  planId: null,
  freeze: null,
  exemption: null,
  details: {},
});

const ofFreeze = (type: DeliveredType, more: Partial<Notice> = {}): Notice => ({
  ...about(type),
  freeze,
  ...more,
});

const ofExemption = (state: string, more: Partial<Notice> = {}): Notice => ({
  ...about(`exemption.${state}` as DeliveredType),
  url: `${page}/repos/acme/web/pulls/7`,
  pullRequest: 7,
  exemption: { ...exemption, state },
  ...more,
});

const ofDeploymentExemption = (state: string, more: Partial<Notice> = {}): Notice => {
  const { pull_request: _, head_sha: sha, any_head: __, ...rest } = exemption;
  return {
    ...ofExemption(state, more),
    type: `deployment_exemption.${state}` as DeliveredType,
    pullRequest: null,
    url: `${page}/repos/acme/web`,
    exemption: { ...rest, environment: 'production', sha, run_id: null, state },
  };
};

const ofDeployment = (state: string): Notice => ({
  ...ofFreeze(`deployment.${state}` as DeliveredType),
  freeze: state === 'released' ? null : { ...freeze, holds: ['deployments'], environments: ['production'] },
  details: {
    environment: 'production',
    workflow: 'Release',
    ref: 'main',
    sha: exemption.head_sha,
    run_url: 'https://github.com/acme/web/actions/runs/42',
  },
});

const ofRuleset = (what: string): Notice => ({
  ...about(`ruleset.${what}` as DeliveredType),
  details: {
    ruleset_id: 5,
    ruleset: 'Holdfast instant hold',
    found: 'changed',
  },
  url: `${page}/repos/acme/web`,
});

/** One notice of each type, as receivers get them. */
export const exampleNotices: Record<DeliveredType, Notice> = {
  'freeze.scheduled': ofFreeze('freeze.scheduled', { actor: ada, at: new Date('2026-12-20T12:00:00Z') }),
  'freeze.updated': ofFreeze('freeze.updated', {
    actor: ada,
    details: {
      scheduled_freeze_attributes_before: { ...freeze, end: null, reason: 'INC-9', exclude_conditions: [] },
    },
  }),
  'freeze.deleted': ofFreeze('freeze.deleted', { actor: ada, details: { reason: 'The provider is back' } }),
  'freeze.restored': ofFreeze('freeze.restored', { actor: ada }),
  'freeze.starting_soon': ofFreeze('freeze.starting_soon', { at: new Date('2026-12-31T16:00:00Z') }),
  'freeze.ending_soon': ofFreeze('freeze.ending_soon', { at: new Date('2027-01-01T07:00:00Z') }),
  'freeze.started': ofFreeze('freeze.started', { actor: ada }),
  'freeze.ended': ofFreeze('freeze.ended', { at: new Date('2027-01-01T08:00:00Z') }),
  'freeze.bypassed': ofFreeze('freeze.bypassed', {
    actor: bob,
    pullRequest: 7,
    url: `${page}/repos/acme/web/pulls/7`,
    details: { shown_state: 'pending', head_sha: exemption.head_sha, merged_at: '2026-12-31T17:00:00Z' },
  }),
  'freeze.leaking': ofFreeze('freeze.leaking', {
    pullRequest: 7,
    url: `${page}/repos/acme/web/pulls/7`,
    details: { head_sha: exemption.head_sha, merge_state: 'CLEAN' },
  }),
  'freeze.not_enforced': ofFreeze('freeze.not_enforced', {
    actor: ada,
    details: { branches: ['main', 'release/1.2'], context: 'holdfast/freeze' },
  }),
  'exemption.requested': ofExemption('requested', { actor: bob }),
  'exemption.approved': ofExemption('approved', {
    actor: ada,
    details: { reason: 'Reviewed with the team' },
  }),
  'exemption.denied': ofExemption('denied', { actor: ada, details: { reason: 'It can wait' } }),
  'exemption.revoked': ofExemption('revoked', { actor: ada }),
  'exemption.expired': ofExemption('expired', { details: { ended_by: 'pushed', was_approved: true } }),
  'exemption.used': ofExemption('used', { actor: bob }),
  'deployment_exemption.requested': ofDeploymentExemption('requested', { actor: bob }),
  'deployment_exemption.approved': ofDeploymentExemption('approved', { actor: ada }),
  'deployment_exemption.denied': ofDeploymentExemption('denied', { actor: ada }),
  'deployment_exemption.revoked': ofDeploymentExemption('revoked', { actor: ada }),
  'deployment_exemption.expired': ofDeploymentExemption('expired', {
    details: { ended_by: 'time', was_approved: false },
  }),
  'deployment_exemption.used': ofDeploymentExemption('used'),
  'deployment.held': ofDeployment('held'),
  'deployment.released': ofDeployment('released'),
  'deployment.rejected': ofDeployment('rejected'),
  'deployment.bypassed': ofDeployment('bypassed'),
  'ruleset.orphaned': ofRuleset('orphaned'),
  'ruleset.repaired': ofRuleset('repaired'),
  'webhook.disabled': {
    ...about('webhook.disabled'),
    repository: null,
    url: `${page}/owners/acme/settings`,
    details: {
      webhook_id: '1f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
      webhook_attributes: {
        kind: 'slack',
        url: 'https://hooks.slack.com/…9f2c',
        description: 'Release channel',
      },
      reason: 'The address answered 410 Gone.',
    },
  },
  'webhook.test': { ...about('webhook.test'), repository: null, url: `${page}/owners/acme/settings` },
};

/** What one plan did to many repositories at once. */
export const planNotices = (count: number): [Notice, ...Notice[]] => {
  const [first, ...others] = Array.from({ length: count }, (_, index) =>
    ofFreeze('freeze.started', {
      repository: `acme/service-${index + 1}`,
      planId: '2c9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c22',
    }),
  );
  return [first!, ...others];
};

/** What one plan planned for three dates. */
export const plannedNotices: [Notice, ...Notice[]] = ['2026-12-31', '2027-01-07', '2027-01-14'].map((date) =>
  ofFreeze('freeze.scheduled', {
    planId: '2c9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c22',
    freeze: { ...freeze, start: `${date}T18:00:00`, end: `${date}T22:00:00` },
  }),
) as [Notice, ...Notice[]];

/** The same notice, told after an outage. */
export const lateNotice: Notice = { ...exampleNotices['freeze.started'], late: true };

/** What a key did, which people outside do not see by name. */
export const byKey: Notice = ofFreeze('freeze.started', {
  actor: { type: 'application', id: 'k', name: 'release tooling' },
});
