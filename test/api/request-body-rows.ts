// The bodies that the tests send to each route: a good one, and all kinds of bad ones.
import { type Row, emoji, text, longText, lists, badConditions, notNull, type Bad } from './bad-fields.ts';
import { freezeBody, planBody, webhookBody } from './acme.ts';

/** The names in the paths. The tests insert existing ones. */
export const ids = { freeze: '', plan: '', exemption: '', webhook: '' };

export const web = '/v1/repos/acme/web';
const scopesRow = {
  path: () => `${web}/pulls/1/scopes`,
  as: 'ci',
  good: { scopes: ['backend'], all_scopes: false },
  required: ['scopes'],
  bad: [
    ...lists('scopes'),
    { body: { scopes: null }, loc: ['body', 'scopes'], says: /Send a list, not null/ },
    { body: { scopes: ['a', 1] }, loc: ['body', 'scopes', 1], says: /Send a string/ },
    { body: { scopes: [''] }, loc: ['body', 'scopes', 0], says: /at least 1/ },
    { body: { scopes: ['x'.repeat(256)] }, loc: ['body', 'scopes', 0], says: /at most 255/ },
    { body: { scopes: [emoji.repeat(256)] }, loc: ['body', 'scopes', 0], says: /at most 255/ },
    { body: { scopes: ['nul\0'] }, loc: ['body', 'scopes', 0], says: /NUL/ },
    { body: { scopes: ['\ud800'] }, loc: ['body', 'scopes', 0], says: /surrogate/ },
    {
      body: { scopes: Array.from({ length: 501 }, (_, index) => `s${index}`) },
      loc: ['body', 'scopes'],
      says: /at most 500/,
    },
    { body: { scopes: [], all_scopes: 'true' }, loc: ['body', 'all_scopes'], says: /without quotes/ },
    { body: { scopes: [], all_scopes: 1 }, loc: ['body', 'all_scopes'], says: /without quotes/ },
    { body: { scopes: [], all_scopes: null }, loc: ['body', 'all_scopes'], says: /not null/ },
  ],
} satisfies Row;
const deletionRow = {
  as: 'admin',
  good: { delete_reason: 'Done' },
  required: ['delete_reason'],
  bad: [
    ...text('delete_reason'),
    ...longText('delete_reason', 10_000),
    { body: { delete_reason: null }, loc: ['body', 'delete_reason'], says: /not null/ },
  ],
} satisfies Omit<Row, 'path'>;
const productsRow = {
  as: 'admin',
  good: { products: ['merge_queue'] },
  required: ['products'],
  bad: [
    ...lists('products'),
    { body: { products: null }, loc: ['body', 'products'] },
    {
      body: { products: ['merge_queue', 'freezes'] },
      loc: ['body', 'products', 1],
      says: /"merge_protections"/,
    },
    { body: { products: ['MERGE_QUEUE'] }, loc: ['body', 'products', 0], says: /Send one of/ },
    { body: { products: ['constructor'] }, loc: ['body', 'products', 0], says: /Send one of/ },
    { body: { products: [null] }, loc: ['body', 'products', 0] },
  ],
} satisfies Omit<Row, 'path'>;

const freezeRow = {
  as: 'admin',
  good: { ...freezeBody, exclude_conditions: [] },
  required: ['reason', 'start', 'timezone'],
  bad: [
    ...text('reason', freezeBody),
    ...longText('reason', 10_000, freezeBody),
    ...text('start', freezeBody),
    ...text('end', freezeBody),
    ...text('timezone', freezeBody),
    ...badConditions('matching_conditions', freezeBody),
    ...badConditions('exclude_conditions', freezeBody),
    { body: { ...freezeBody, reason: null }, loc: ['body', 'reason'], says: /not null/ },
    { body: { ...freezeBody, timezone: null }, loc: ['body', 'timezone'], says: /not null/ },
    { body: { ...freezeBody, matching_conditions: null }, loc: ['body', 'matching_conditions'] },
  ],
} satisfies Omit<Row, 'path'>;

const badHolds = (more: object = {}): Bad[] => [
  ...lists('holds', more),
  { body: { ...more, holds: [] }, loc: ['body', 'holds'], says: /merges, deployments or both/ },
  { body: { ...more, holds: ['merge'] }, loc: ['body', 'holds', 0], says: /"merges", "deployments"/ },
  ...lists('environments', more),
  { body: { ...more, environments: [] }, loc: ['body', 'environments'], says: /at least one/ },
  { body: { ...more, environments: [''] }, loc: ['body', 'environments', 0], says: /at least 1/ },
  { body: { ...more, on_deployment: 'block' }, loc: ['body', 'on_deployment'], says: /"wait"/ },
];
const badGlobs = (field: 'include' | 'exclude', more: object, others: object): Bad[] => [
  { body: { ...more, repositories: { ...others, [field]: 'web' } }, loc: ['body', 'repositories', field] },
  { body: { ...more, repositories: { ...others, [field]: [1] } }, loc: ['body', 'repositories', field, 0] },
];
const badPlan = (more: object): Bad[] => [
  ...text('name', more),
  ...longText('name', 255, more),
  ...text('reason', more),
  ...longText('reason', 10_000, more),
  ...text('public_reason', more),
  ...text('start', more),
  ...text('end', more),
  ...text('timezone', more),
  ...badConditions('matching_conditions', more),
  ...badConditions('exclude_conditions', more),
  ...badHolds(more),
  ...badGlobs('include', more, {}),
  ...badGlobs('exclude', more, { include: ['*'] }),
  {
    body: { ...more, repositories: [] },
    loc: ['body', 'repositories'],
    says: /Send a JSON object, not a list/,
  },
  { body: { ...more, recurrence: 'FREQ=DAILY' }, loc: ['body', 'recurrence'], says: /Send a JSON object/ },
  { body: { ...more, recurrence: { rule: 1 } }, loc: ['body', 'recurrence', 'rule'], says: /Send a string/ },
  {
    body: { ...more, recurrence: { rule: 'FREQ=DAILY', except: '2026-12-24' } },
    loc: ['body', 'recurrence', 'except'],
    says: /Send a list/,
  },
];
const planRow = {
  as: 'admin',
  good: planBody,
  required: ['name', 'reason', 'repositories', 'start', 'timezone'],
  bad: [...badPlan(planBody), ...['name', 'reason', 'timezone'].map((field) => notNull(field, planBody))],
} satisfies Omit<Row, 'path'>;
/** Of a new webhook, and of a change of one. */
const badWebhooks = (more: object): Bad[] => [
  ...text('url', more),
  ...longText('url', 2000, more),
  ...['repositories', 'events'].flatMap((field): Bad[] => [
    ...lists(field, more),
    { body: { ...more, [field]: [] }, loc: ['body', field], says: /at least one, or send null/ },
  ]),
  { body: { ...more, repositories: ['{a'] }, loc: ['body', 'repositories', 0], says: /This is not a glob/ },
  {
    body: { ...more, events: ['freeze.startd'] },
    loc: ['body', 'events', 0],
    says: /`freeze.startd` is no type of event. Did you mean freeze.started\?/,
  },
];

const ruleBody = { name: 'release', refs: ['refs/heads/main'], may: ['push_scopes'] };
const globLists = ['repositories', 'refs', 'environments'];
const ofDeployment = { environment: 'production', sha: 'c'.repeat(40), reason: 'A fix' };
const decisionRow = (list: string, decision: string) => ({
  path: () => `${web}/${list}/${ids.exemption}/${decision}`,
  as: 'admin' as const,
  good: { reason: 'Agreed' },
  required: decision === 'approve' ? [] : ['reason'],
  ...(decision === 'approve' && { isOptional: true as const }),
  bad: [
    ...text('reason'),
    ...longText('reason', 10_000),
    { body: { reason: '' }, loc: ['body', 'reason'], says: /at least 1/ },
    ...(decision === 'approve' ? [] : [notNull('reason')]),
  ],
});

const settingsRow = {
  as: 'admin' as const,
  good: { longest_open_end_hours: 72 },
  required: [],
  bad: [
    { body: { two_person_exemptions: 'true' }, loc: ['body', 'two_person_exemptions'] },
    { body: { comment_commands: 1 }, loc: ['body', 'comment_commands'] },
    ...[0, 1.5, 87_601, '72', true].map((hours) => ({
      body: { longest_open_end_hours: hours },
      loc: ['body', 'longest_open_end_hours'],
    })),
    { body: { freezers: 'ada' }, loc: ['body', 'freezers'] },
    { body: { freezers: Array(51).fill('ada') }, loc: ['body', 'freezers'], says: /at most 50/ },
    ...['', 'a/b', '@acme', '@acme/..', 'a'.repeat(101), 1].map((text) => ({
      body: { approvers: ['ada', text] },
      loc: ['body', 'approvers', 1],
    })),
  ] as Bad[],
};

export const rows: Record<string, Row> = {
  'put /repos/{owner}/{repository}/pulls/{number}/scopes': scopesRow,
  'post /repos/{owner}/{repository}/pulls/{number}/scopes': scopesRow,
  'post /repos/{owner}/{repository}/scheduled_freeze': {
    ...freezeRow,
    path: () => `${web}/scheduled_freeze`,
  },
  'post /repos/{owner}/{repository}/scheduled_freeze/preview': {
    ...freezeRow,
    path: () => `${web}/scheduled_freeze/preview`,
  },
  'patch /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}': {
    path: () => `${web}/scheduled_freeze/${ids.freeze}`,
    as: 'admin',
    good: { reason: 'Later' },
    required: [],
    bad: [
      ...text('reason'),
      ...longText('reason', 10_000),
      ...text('start'),
      ...text('end'),
      ...text('timezone'),
      ...badConditions('matching_conditions'),
      ...badConditions('exclude_conditions'),
    ],
  },
  'delete /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}': {
    ...deletionRow,
    path: () => `${web}/scheduled_freeze/${ids.freeze}`,
  },
  'post /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/delete': {
    ...deletionRow,
    path: () => `${web}/scheduled_freeze/${ids.freeze}/delete`,
  },
  'put /products/{owner}/{repository}': { ...productsRow, path: () => '/v1/products/acme/web' },
  'put /default_products/{owner}': { ...productsRow, path: () => '/v1/default_products/acme' },
  'post /applications/{owner}': {
    path: () => '/v1/applications/acme',
    as: 'admin',
    good: { name: 'tool', scope: 'ci' },
    required: ['name', 'scope'],
    bad: [
      ...text('name', { scope: 'ci' }),
      ...longText('name', 255, { scope: 'ci' }),
      { body: { name: '', scope: 'ci' }, loc: ['body', 'name'], says: /at least 1/ },
      { body: { name: 'x', scope: 'Admin' }, loc: ['body', 'scope'], says: /"admin", "ci"/ },
      { body: { name: 'x', scope: 'ci', expires_at: 1 }, loc: ['body', 'expires_at'] },
      {
        body: { name: 'x', scope: 'ci', expires_at: 'soon' },
        loc: ['body', 'expires_at'],
        says: /Send an instant/,
      },
      { body: { name: 'x', scope: 'ci', expires_at: '2027-01-01' }, loc: ['body', 'expires_at'] },
      {
        body: { name: 'x', scope: 'ci', expires_at: '2026-03-01T09:00:00Z' },
        loc: ['body', 'expires_at'],
        says: /passed/,
      },
      {
        body: { name: 'x', scope: 'ci', expires_at: '9999-12-31T23:59:59-23:59' },
        loc: ['body', 'expires_at'],
      },
    ],
  },
  'post /webhooks/{owner}': {
    path: () => '/v1/webhooks/acme',
    as: 'admin',
    good: webhookBody,
    required: ['kind', 'url'],
    bad: [
      ...badWebhooks(webhookBody),
      { body: { ...webhookBody, kind: 'email' }, loc: ['body', 'kind'], says: /standard.*google_chat/ },
    ],
  },
  'patch /webhooks/{owner}/{webhook_id}': {
    path: () => `/v1/webhooks/acme/${ids.webhook}`,
    as: 'admin',
    good: { description: 'Ops' },
    required: [],
    bad: [...badWebhooks({}), { body: { enabled: null }, loc: ['body', 'enabled'], says: /boolean/ }],
  },
  'post /oidc_rules/{owner}': {
    path: () => '/v1/oidc_rules/acme',
    as: 'admin',
    good: ruleBody,
    required: ['name', 'may'],
    bad: [
      ...text('name', ruleBody),
      ...longText('name', 255, ruleBody),
      notNull('name', ruleBody),
      ...globLists.flatMap((field) => lists(field, ruleBody)),
      ...globLists.flatMap((field): Bad[] => [
        { body: { ...ruleBody, [field]: [] }, loc: ['body', field], says: /at least one, or send null/ },
        { body: { ...ruleBody, [field]: [1] }, loc: ['body', field, 0], says: /Send a string/ },
        {
          body: { ...ruleBody, [field]: Array(51).fill('refs/x') },
          loc: ['body', field],
          says: /at most 50/,
        },
      ]),
      { body: { ...ruleBody, refs: ['main'] }, loc: ['body', 'refs', 0], says: /the whole ref/ },
      ...lists('may', ruleBody),
      { body: { ...ruleBody, may: [] }, loc: ['body', 'may'], says: /Send \["push_scopes"\]/ },
      { body: { ...ruleBody, may: ['everything'] }, loc: ['body', 'may', 0], says: /push_scopes/ },
      {
        body: { ...ruleBody, may: ['push_scopes', 'freeze'], refs: null },
        loc: ['body', 'refs'],
        says: /names refs or environments/,
      },
    ],
  },
  'post /calendars/{owner}': {
    path: () => '/v1/calendars/acme',
    as: 'admin',
    good: { repositories: ['web'], public_text: true },
    required: [],
    bad: [
      ...lists('repositories'),
      { body: { repositories: [] }, loc: ['body', 'repositories'], says: /at least one, or send null/ },
      {
        body: { repositories: ['acme/web'] },
        loc: ['body', 'repositories', 0],
        says: /only letters, digits/,
      },
      { body: { repositories: ['nope'] }, loc: ['body', 'repositories', 0], says: /no repository nope/ },
      { body: { public_text: 'yes' }, loc: ['body', 'public_text'], says: /Send a boolean/ },
    ],
  },
  'post /freeze_plans/{owner}': { ...planRow, path: () => '/v1/freeze_plans/acme' },
  'post /freeze_plans/{owner}/preview': { ...planRow, path: () => '/v1/freeze_plans/acme/preview' },
  'patch /freeze_plans/{owner}/{plan_id}': {
    path: () => `/v1/freeze_plans/acme/${ids.plan}`,
    as: 'admin',
    good: { reason: 'Later' },
    required: [],
    bad: badPlan({}),
  },
  'post /freeze_plans/{owner}/{plan_id}/occurrences/{start}': {
    path: () => `/v1/freeze_plans/acme/${ids.plan}/occurrences/${planBody.start}`,
    as: 'admin',
    good: { skip: true },
    required: [],
    bad: [
      ...text('start'),
      ...text('end'),
      { body: { skip: 'true' }, loc: ['body', 'skip'], says: /without quotes/ },
      { body: { skip: null }, loc: ['body', 'skip'], says: /not null/ },
      { body: { start: 'friday' }, loc: ['body', 'start'], says: /not a wall-clock time/ },
      { body: { end: '2026-12-25T18:00:00Z' }, loc: ['body', 'end'], says: /zone designator/ },
      { body: { skip: true, end: '2026-12-25T18:00:00' }, loc: ['body'], says: /either `skip`/ },
      { body: {}, loc: ['body'], says: /either `skip`/ },
    ],
  },
  'post /freeze_plans/{owner}/{plan_id}/delete': {
    ...deletionRow,
    path: () => `/v1/freeze_plans/acme/${ids.plan}/delete`,
  },
  'delete /freeze_plans/{owner}/{plan_id}': {
    ...deletionRow,
    required: [],
    path: () => `/v1/freeze_plans/acme/${ids.plan}`,
  },
  'patch /repos/{owner}/{repository}/settings': {
    path: () => `${web}/settings`,
    ...settingsRow,
  },
  'patch /settings/{owner}': {
    path: () => '/v1/settings/acme',
    ...settingsRow,
  },
  'put /repos/{owner}/{repository}/merge-queue/pause': {
    path: () => `${web}/merge-queue/pause`,
    as: 'admin',
    good: { reason: 'Broken main' },
    required: ['reason'],
    bad: [
      ...text('reason'),
      ...longText('reason', 255),
      notNull('reason'),
      { body: { reason: '' }, loc: ['body', 'reason'], says: /at least 1/ },
    ],
  },
  'post /repos/{owner}/{repository}/pulls/{number}/exemptions': {
    path: () => `${web}/pulls/1/exemptions`,
    as: 'admin',
    good: { reason: 'INC-4711 fix' },
    required: ['reason'],
    bad: [
      ...text('reason'),
      ...longText('reason', 10_000),
      ...text('public_reason', { reason: 'x' }),
      ...longText('public_reason', 10_000, { reason: 'x' }),
      notNull('reason'),
      { body: { reason: '' }, loc: ['body', 'reason'], says: /at least 1/ },
      ...lists('freeze_ids', { reason: 'x' }),
      { body: { reason: 'x', freeze_ids: [] }, loc: ['body', 'freeze_ids'], says: /at least one freeze/ },
      { body: { reason: 'x', freeze_ids: ['1'] }, loc: ['body', 'freeze_ids', 0], says: /UUID/ },
      { body: { reason: 'x', any_head: 'true' }, loc: ['body', 'any_head'] },
      { body: { reason: 'x', head_sha: 'abc1234' }, loc: ['body', 'head_sha'], says: /full SHA/ },
      { body: { reason: 'x', expires_at: 'soon' }, loc: ['body', 'expires_at'], says: /Send an instant/ },
      { body: { reason: 'x', expires_at: '2026-03-01T08:00:00Z' }, loc: ['body', 'expires_at'], says: /./ },
      { body: { reason: 'x', expires_at: '2026-05-01T08:00:00Z' }, loc: ['body', 'expires_at'], says: /30/ },
    ],
  },
  'post /repos/{owner}/{repository}/deployment_exemptions': {
    path: () => `${web}/deployment_exemptions`,
    as: 'admin',
    good: ofDeployment,
    required: ['environment', 'reason'],
    bad: [
      ...text('environment', ofDeployment),
      ...longText('environment', 255, ofDeployment),
      ...[{ sha: null }, { run_id: 7 }].map((more) => ({
        ...{ body: { ...ofDeployment, ...more }, loc: ['body', 'sha'], says: /either sha or run_id/ },
      })),
      { body: { ...ofDeployment, run_id: 0 }, loc: ['body', 'run_id'], says: /./ },
      { body: { ...ofDeployment, sha: 'abc1234' }, loc: ['body', 'sha'], says: /full SHA/ },
    ],
  },
  ...Object.fromEntries(
    ['exemptions', 'deployment_exemptions'].flatMap((list) =>
      ['approve', 'deny', 'revoke'].map((decision) => [
        `post /repos/{owner}/{repository}/${list}/{exemption_id}/${decision}`,
        decisionRow(list, decision),
      ]),
    ),
  ),
};
