import { z } from '@hono/zod-openapi';
import { endpoint } from '../endpoint.ts';
import { ownerPath } from '../path-params.ts';
import { eventShape, logPage, logQuery, readLog } from './logs.ts';

const ownerEvent = eventShape.extend({ repository: z.null() }).openapi('OwnerEvent');

export const getOwnerLogs = endpoint({
  method: 'get',
  path: '/logs/{owner}',
  tag: 'Audit log',
  summary: "Read an owner's audit log, newest first",
  description:
    'Contains events that belong to no repository: application keys, default products and freeze plans. Pages are linked by the `Link` header (`next`, `prev`). By default, the log covers the last day.',
  access: { to: 'owner' },
  params: ownerPath,
  query: logQuery,
  success: logPage('OwnerEvents', ownerEvent, {
    id: 8,
    received_at: '2026-03-01T09:00:00.000Z',
    trigger: 'api',
    repository: null,
    pull_request: null,
    base_ref: null,
    outcome: 'success',
    type: 'application_key.create',
    metadata: {
      key_id: '6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
      key_name: 'release tooling',
      key_scope: 'admin',
      created_by: { type: 'user', id: 1, name: 'ada' },
      created_at: '2026-03-01T09:00:00.000Z',
      created_by_staff: false,
    },
  }),
  async handle({ deps, account, query, url }) {
    return readLog(deps, { accountId: account.id }, query, url);
  },
});
