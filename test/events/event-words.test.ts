import { describe, expect, test } from 'vitest';
import { type AuditEvent, auditEventTypes, eventKinds, ownTriggerOf } from '../../src/events/audit-event.ts';
import { describeEvent } from '../../src/words/describe-event.ts';
import {
  csvHeader,
  csvLine,
  csvRow,
  roadOfEvent,
  whatChanged,
  whoActed,
} from '../../src/words/event-words.ts';
import { whatIsBlocked } from '../../src/words/describe-fields.ts';

const freeze = {
  reason: 'Books',
  start: '2026-11-27T18:00:00',
  end: '2026-11-27T20:00:00',
  timezone: 'Europe/Paris',
  matching_conditions: [],
  exclude_conditions: ['label=hotfix'],
};
const ada = { type: 'user', id: 1, name: 'ada' } as const;
const key = { type: 'application', id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f', name: 'tooling' } as const;
const tell = (type: string, metadata: object, pull_request: number | null = null) => {
  const { did, subject, ...described } = describeEvent({ type, metadata, pull_request });
  return [did, subject?.name, whatChanged(described)].filter(Boolean).join(' | ');
};

describe('a line of CSV', () => {
  test.each<[cells: string[], line: string]>([
    [['a', 'b'], 'a,b'],
    [['', ''], ','],
    [['with, comma', 'plain'], '"with, comma",plain'],
    [['a "quote"'], '"a ""quote"""'],
    [['two\nlines'], '"two\nlines"'],
    [['two\r\nlines'], '"two\r\nlines"'],
    [['=1+1'], "'=1+1"],
    [['=HYPERLINK("http://evil","x")'], `"'=HYPERLINK(""http://evil"",""x"")"`],
    [['+1'], "'+1"],
    [['-1'], "'-1"],
    [['@SUM(A1)'], "'@SUM(A1)"],
    [['\t=1'], "'\t=1"],
    [['\r=1'], `"'\r=1"`],
    [['\n=1'], `"'\n=1"`],
    [[' =1'], "' =1"],
    [['a=1', 'a-b'], 'a=1,a-b'],
    [['تجميد'], 'تجميد'],
  ])('%j', (cells, line) => expect(csvLine(cells)).toBe(`${line}\r\n`));

  test('an event has a cell for each column', () => {
    const metadata = { scheduled_freeze_id: 'f', scheduled_freeze_attributes: freeze, created_by: key };
    const event = {
      id: 7,
      received_at: '2026-11-25T09:00:00.000Z',
      trigger: 'page',
      repository: 'acme/web',
      pull_request: null,
      type: 'scheduled_freeze.create',
      outcome: 'success',
      metadata,
      on_behalf_of: ada,
    };
    const cells = csvRow(event).trimEnd().split(',');
    expect(
      Object.fromEntries(
        csvHeader()
          .trimEnd()
          .split(',')
          .map((name, at) => [name, cells[at]]),
      ),
    ).toEqual({
      id: '7',
      received_at: '2026-11-25T09:00:00.000Z',
      actor: 'tooling',
      on_behalf_of: 'ada',
      repository: 'acme/web',
      pull_request: '',
      type: 'scheduled_freeze.create',
      outcome: 'success',
      event: 'the application key tooling of ada (Page) created a freeze',
      about: 'Books',
      about_id: 'f',
      changes: '',
      trigger: 'page',
    });
  });
});

test.each<[type: string, metadata: object, words: string]>([
  [
    'scheduled_freeze.update',
    {
      scheduled_freeze_id: 'f',
      scheduled_freeze_attributes_before: freeze,
      scheduled_freeze_attributes_after: { ...freeze, end: null, matching_conditions: ['base=main'] },
    },
    'changed a freeze | Books | End: 2026-11-27T20:00:00 → none; Matching: all pull requests → base=main',
  ],
  [
    'freeze_plan.update',
    {
      freeze_plan_id: 'p',
      freeze_plan_attributes_before: {
        name: 'Year end',
        repositories: { include: ['*'], exclude: [] },
        recurrence: null,
      },
      freeze_plan_attributes_after: {
        name: 'Year end',
        repositories: { include: ['web', 'api-*'], exclude: ['api-old'] },
        recurrence: { rule: 'FREQ=YEARLY', except: ['2028-12-24'], until: '2030-01-01' },
      },
    },
    'changed a plan | Year end | Repositories: * → web, api-*, except api-old; Repeats: none → FREQ=YEARLY, until 2030-01-01, except on 2028-12-24',
  ],
  [
    'repository_settings.update',
    { settings_before: { a: false, b: 1 }, settings_after: { a: true, b: 1 } },
    'changed the settings | A: false → true',
  ],
  [
    'repository_settings.update',
    {
      settings_before: { freezers: [], two_person_exemptions: false },
      settings_after: { freezers: ['@acme/release'], two_person_exemptions: true },
    },
    'changed the settings | Freezers: none → @acme/release; Exemptions take two people: false → true',
  ],
  [
    'owner_settings.update',
    { settings_before: {}, settings_after: {}, team_ids: { '@acme/release': 7, '@acme/old': null } },
    'saved which teams the settings mean | Teams: @acme/release has the id 7, @acme/old is not on GitHub',
  ],
  [
    'default_products.update',
    { products_before: ['merge_queue'], products_after: [] },
    'changed the products of new repositories | Products: merge_queue → none',
  ],
  [
    'application_key.revoke',
    { key_id: 'k', key_name: 'ci', key_scope: 'ci' },
    'revoked the application key ci | Scope: ci',
  ],
  [
    'oidc_rule.create',
    { oidc_rule_id: 'r', oidc_rule_attributes: { name: 'deploy', refs: null, may: ['push_scopes'] } },
    'created the OIDC rule deploy | Branches and tags: all; May: push_scopes',
  ],
  [
    'webhook.update',
    { webhook_attributes_before: { enabled: true }, webhook_attributes_after: { enabled: false } },
    'changed a webhook | Enabled: true → false',
  ],
  [
    'webhook.create',
    { webhook_attributes: { kind: 'slack', repositories: null, events: null, description: null } },
    'created a webhook | Kind: slack; Repositories: all; Events: all; Description: none',
  ],
  [
    'calendar.create',
    { calendar_id: 'c', calendar_attributes: { repositories: null, public_text: true } },
    'created a calendar | Repositories: all; Public text: true',
  ],
  [
    'webhook.rotate_secret',
    { webhook_attributes: { url: 'https://ops.example/' } },
    'rotated the secret of a webhook | Address: https://ops.example/',
  ],
  [
    'webhook.disabled',
    { webhook_attributes: { url: 'https://ops.example/' }, reason: 'It answered 410.' },
    'disabled a webhook | Reason: It answered 410.; Address: https://ops.example/',
  ],
  [
    'freeze.started',
    {
      scheduled_freeze_id: 'f',
      scheduled_freeze_attributes: freeze,
      planned_at: '2026-11-27T17:00:00.000Z',
    },
    'recorded that a freeze started | Books | Planned for: 2026-11-27T17:00:00.000Z',
  ],
  [
    'freeze_plan.source_failed',
    {
      freeze_plan_id: 'p',
      freeze_plan_attributes: { name: 'Holidays' },
      source_url: 'https://cal.example/',
      error: 'It answered 500.',
    },
    'could not read the calendar of a plan | Holidays | Address: https://cal.example/; Error: It answered 500.',
  ],
  [
    'ruleset.repaired',
    { ruleset_id: 7, ruleset: 'Holdfast instant hold', found: 'deleted' },
    'repaired the ruleset of an instant hold, which somebody had deleted | Ruleset: Holdfast instant hold (7)',
  ],
  ['moon.full', { phase: 'new' }, 'moon.full | Details: {"phase":"new"}'],
])('%s in words', (type, metadata, words) => expect(tell(type, metadata)).toBe(words));

test('each type has a name of its own', () => {
  const names = auditEventTypes.map((type) => eventKinds[type].name);
  expect(new Set(names).size).toBe(names.length);
});

test.each([
  [ada, {}, 'ada'],
  [null, {}, 'Somebody'],
  [key, {}, 'the application key tooling'],
  [key, { on_behalf_of: ada }, 'the application key tooling of ada'],
  [
    { ...key, name: 'acme/web ci.yml run 7', run: 'https://x' },
    { on_behalf_of: ada },
    'the job acme/web ci.yml run 7 of ada',
  ],
  [
    { type: 'application', id: 'holdfast', name: 'Holdfast' } as const,
    { on_behalf_of: ada, freeze_plan: { id: 'p', name: 'Year end' } },
    'Holdfast, for the plan Year end of ada',
  ],
  [
    { type: 'application', id: 'holdfast', name: 'Holdfast' } as const,
    { on_behalf_of: ada, freeze_plan: { id: 'p' } },
    'Holdfast, for a plan of ada',
  ],
])('%j %j is %s', (actor, more, words) => expect(whoActed(actor, more)).toBe(words));

const both = ['merges', 'deployments'];
test.each([
  [{}, null],
  [{ holds: ['merges'], environments: ['production'] }, null],
  [{ holds: both, environments: ['*'] }, 'Merges are blocked; deployments wait.'],
  [{ holds: both, environments: ['production'] }, 'Merges are blocked; deployments to production wait.'],
  [
    { holds: both, environments: ['production', 'live-*'], on_deployment: 'reject' },
    'Merges are blocked; deployments to production and live-* are rejected.',
  ],
  [
    { holds: ['deployments'], environments: ['a', 'b', 'c', 'd', 'e', 'f', 'g'], onDeployment: 'wait' },
    'Deployments to a, b, c, d, e and 2 more wait; merges are not blocked.',
  ],
  [
    { holds: ['deployments'], environments: [], onDeployment: null },
    'Deployments wait; merges are not blocked.',
  ],
])('%j is told in one sentence', (freeze, sentence) => expect(whatIsBlocked(freeze)).toBe(sentence));

describe('what no caller causes', () => {
  const told = (type: string, metadata = {}) => ownTriggerOf({ type, metadata } as AuditEvent);

  test.each<[trigger: string, types: string]>([
    ['plan', 'freeze_plan.source_failed'],
    ['clock', 'freeze.starting_soon freeze.started freeze.ending_soon freeze.ended freeze.still_on'],
    ['clock', 'deployment.released deployment_exemption.expired webhook.disabled'],
    ['github', 'freeze.bypassed freeze.leaking exemption.used deployment_exemption.used'],
    ['github', 'deployment.held deployment.rejected deployment.bypassed'],
    ['github', 'ruleset.orphaned ruleset.repaired'],
    ['github', 'freeze_status.overwritten freeze_status.refused freeze_status.contested'],
  ])('comes about by the %s: %s', (trigger, types) => {
    expect(types.split(' ').map((type) => told(type))).toEqual(types.split(' ').map(() => trigger));
  });

  test.each([
    ['pushed', 'github'],
    ['retargeted', 'github'],
    ['merged', 'github'],
    ['time', 'clock'],
    ['freezes', 'clock'],
  ])('ends an exemption: %s is of the %s', (ended_by, trigger) => {
    expect(told('exemption.expired', { ended_by })).toBe(trigger);
  });
});

test.each<[object, string]>([
  [{ trigger: 'api', metadata: {} }, 'API'],
  [{ trigger: 'github', metadata: {} }, 'GitHub'],
  // Of a newer version.
  [{ trigger: 'email', metadata: {} }, 'email'],
  [
    { trigger: 'slack', metadata: { via: { slack_team_id: 'T1', slack_app: 'service' } } },
    'Slack, workspace T1',
  ],
  [
    { trigger: 'slack', metadata: { via: { slack_team_id: 'T1', slack_app: 'owner' } } },
    'Slack app of the owner, workspace T1',
  ],
])('%j came by %s', (event, road) => {
  expect(roadOfEvent(event as Parameters<typeof roadOfEvent>[0])).toBe(road);
});
