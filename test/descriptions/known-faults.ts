// Faults that the sandbox once had, or that the product must never have, and what the judges say of them.
import type { RecordedExchange } from '../support/record-github.ts';

const status = {
  id: 1,
  node_id: 'SC_1',
  state: 'success',
  description: null,
  context: 'holdfast/freeze',
  created_at: '2026-03-01T09:00:00Z',
  updated_at: '2026-03-01T09:00:00Z',
  creator: null,
};
/** A good one. */
const statuses: RecordedExchange = {
  kind: 'exchange',
  method: 'GET',
  path: '/repos/acme/web/commits/main/statuses?per_page=100',
  headers: {
    accept: 'application/vnd.github.v3+json',
    'user-agent': 'octokit-core.js',
    'x-github-api-version': '2022-11-28',
  },
  body: null,
  caller: 'installation',
  permissions: { metadata: 'read', statuses: 'read' },
  isPrivate: true,
  status: 200,
  answerHeaders: { etag: '"1"' },
  answer: [status],
};
const query: RecordedExchange = {
  ...statuses,
  method: 'POST',
  path: '/graphql',
  permissions: { metadata: 'read', pull_requests: 'read' },
  body: { query: 'query Q { repository(owner: "acme", name: "web") { name } }' },
  answer: { data: { repository: { name: 'web' } } },
};

const asking = (fields: string) => ({
  query: `query Q { repository(owner: "acme", name: "web") { ${fields} } }`,
});

/** Each with the one fault that it has; null for none. */
export const requests: [RecordedExchange, string | null][] = [
  [statuses, null],
  [{ ...statuses, path: '/repositories/7/commits/main/statuses' }, null],
  [{ ...statuses, path: '/repos/acme/web/commits/main/state' }, 'the route is not described'],
  [{ ...statuses, path: '/repos/acme/web/contents/.github/workflows/deploy.yml' }, null],
  [{ ...statuses, path: `${statuses.path}&sort=new` }, 'the parameter sort is not described'],
  [{ ...statuses, path: '/repos/acme/web/commits/main/statuses?per_page=101' }, 'per_page is over 100'],
  [{ ...statuses, headers: { ...statuses.headers, 'user-agent': '' } }, 'no User-Agent is sent'],
  [
    { ...statuses, headers: { ...statuses.headers, 'x-github-api-version': '2020-01-01' } },
    'there is no version 2020-01-01',
  ],
  [
    { ...statuses, headers: { ...statuses.headers, accept: 'text/plain' } },
    'there is no media type text/plain',
  ],
  [
    {
      ...statuses,
      method: 'POST',
      path: '/repos/acme/web/statuses/0000000000000000000000000000000000000001',
      headers: { ...statuses.headers, 'content-type': 'application/json' },
      body: { state: 'success', colour: 'red' },
    },
    'of the body sent, colour is not described',
  ],
];

export const answers: [RecordedExchange, string | null][] = [
  [statuses, null],
  [{ ...statuses, answerHeaders: {} }, 'the answer has no ETag'],
  [
    { ...statuses, answer: [{ ...status, created_at: '2026-03-01T09:00:00.123Z' }] },
    'created_at has parts of a second',
  ],
  [{ ...statuses, answer: [{ ...status, context: undefined }] }, '[].context is not there'],
  [{ ...statuses, answer: [{ ...status, stack: null }] }, '[].stack is not described'],
  [{ ...statuses, answer: [{ ...status, id: '1' }] }, '[].id must be integer'],
  [{ ...statuses, status: 299 }, 'an answer of 299 is not described'],
];

export const permitted: [RecordedExchange, string | null][] = [
  [statuses, null],
  [{ ...statuses, permissions: { metadata: 'read' } }, 'is done without statuses=read'],
  [{ ...statuses, permissions: { metadata: 'read' }, isPrivate: false }, null],
  [
    { ...statuses, status: 403, answer: { message: 'Resource not accessible by integration' } },
    'is refused with statuses=read',
  ],
];

export const texts: [RecordedExchange, string | null][] = [
  [query, null],
  [{ ...query, body: asking('colour') }, 'Cannot query field "colour" on type "Repository"'],
  [
    {
      ...query,
      body: asking(
        'pullRequests(first: 100) { nodes { reviews(first: 100) { nodes { comments(first: 11) { nodes { id } } } } } }',
      ),
    },
    'it asks for 120100 nodes, over 100000',
  ],
  [
    {
      ...query,
      body: asking('mergeQueue(branch: "main") { id }'),
      answer: { data: { repository: { mergeQueue: { id: 'MQ_1' } } } },
    },
    'Repository.mergeQueue is done without merge_queues=read',
  ],
];
