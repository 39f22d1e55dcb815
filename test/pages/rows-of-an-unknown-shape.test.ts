import { beforeAll, expect, test } from 'vitest';
import { loadNotices } from '../../src/notices/notice.ts';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// One row that another version or a person wrote never takes a page away: it is one line that says so.

const acme = acmeForAll();
const ada = new Visitor(acme);
const paths: string[] = [];
const feeds = '/v1/calendars/acme';

async function made(method: string, path: string, body: object): Promise<{ id: string }> {
  const answer = await acme.call(method, path, { as: acme.admin, body });
  expect(answer.status, `${path} ${answer.text}`).toBeLessThan(300);
  return answer.body;
}

beforeAll(async () => {
  await acme.repository('web', [{}]);
  const over = await acme.freeze('acme/web', { reason: 'Over' });
  await acme.remove('acme/web', over.id);
  const freeze = await acme.freeze('acme/web', { end: '2026-03-28T08:00:00' });
  await acme.update('acme/web', freeze.id, { end: '2026-03-29T08:00:00' });
  const plan = await made('POST', '/v1/freeze_plans/acme', {
    name: 'Year end',
    reason: 'Year end',
    repositories: { include: ['web'] },
    start: '2026-03-24T18:00:00',
    end: '2026-03-27T18:00:00',
    timezone: 'UTC',
  });
  await made('POST', '/v1/repos/acme/web/pulls/1/exemptions', { reason: 'Fix', expires_in: '1h' });
  await made('POST', '/v1/oidc_rules/acme', { name: 'Release', may: ['push_scopes'] });
  await made('POST', feeds, {});
  await ada.signIn('ada');
  paths.push(
    ...[
      '/',
      '/owners/acme',
      '/owners/acme/audit',
      '/owners/acme/audit?format=csv',
      '/owners/acme/audit?format=jsonl',
    ],
    ...[
      '/owners/acme/exemptions',
      '/owners/acme/plans',
      `/owners/acme/plans/${plan.id}`,
      '/owners/acme/calendar',
    ],
    ...[
      '/owners/acme/calendar/subscribe',
      '/owners/acme/settings/webhooks',
      '/owners/acme/settings/keys',
      '/owners/acme/settings/jobs',
      '/owners/acme/freeze',
      '/owners/acme/unfreeze',
    ],
    ...[
      '/repos/acme/web',
      '/repos/acme/web/audit',
      '/repos/acme/web/audit?format=csv',
      '/repos/acme/web/settings',
    ],
    ...[
      `/repos/acme/web/freezes/${freeze.id}`,
      `/repos/acme/web/freezes/${over.id}`,
      '/repos/acme/web/pulls/1',
    ],
    ...['/v1/repos/acme/web/logs', '/v1/logs/acme'],
  );
});

/** The columns that say who did something, and the log. */
const columns: Record<string, string[]> = {
  audit_events: ['metadata'],
  freezes: ['created_by', 'updated_by', 'deleted_by'],
  freeze_plans: ['created_by', 'updated_by'],
  exemptions: ['requested_by', 'decided_by'],
  application_keys: ['created_by'],
  oidc_rules: ['created_by'],
  calendar_feeds: ['created_by'],
  outgoing_webhooks: ['created_by'],
};

const shapes = [
  null,
  'text',
  {},
  { type: 'application', id: 'no uuid' },
  { scheduled_freeze_attributes: { reason: { of: 'another' } } },
  {
    scheduled_freeze_id: 'f',
    scheduled_freeze_attributes: {
      reason: 'Release',
      start: '2026-99-99T10:00:00',
      exclude_conditions: null,
    },
  },
];

test.each(shapes.map((shape) => [JSON.stringify(shape), shape]))('%s', async (_, shape) => {
  const { db } = acme.app.deps;
  for (const [table, names] of Object.entries(columns))
    for (const name of names)
      await db.$executeRawUnsafe(`UPDATE ${table} SET ${name} = $1::jsonb`, JSON.stringify(shape));
  const failed: string[] = [];
  for (const path of paths) {
    const { status, text } = path.startsWith('/v1/')
      ? await acme.call('GET', path, { as: acme.admin })
      : await ada.open(path);
    if (status >= 500) failed.push(`${path} ${status}`);
    if (path === '/repos/acme/web/audit')
      expect(words({ text })).toContain(
        'Somebody caused an event that Holdfast cannot read: scheduled_freeze.create',
      );
  }
  expect(failed).toEqual([]);
  // Nor does it keep outgoing webhooks from what comes after it.
  const events = await db.auditEvent.findMany({ select: { id: true } });
  const ids = events.map(({ id }) => id);
  expect((await loadNotices(acme.app.deps, ids)).length).toBeLessThan(ids.length);
});
