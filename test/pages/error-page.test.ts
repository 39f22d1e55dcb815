import { OpenAPIHono } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import { logRequests, ownRequestId } from '../../src/api/log-requests.ts';
import { CallerLimits } from '../../src/github/limits/caller-limits.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { mountPages } from '../../src/pages/mount-pages.ts';
import { acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();

/** A page, where each use of the database throws. */
async function pageWhere(error: Error): Promise<Response> {
  const thrown = <Part extends object>() =>
    new Proxy({} as Part, {
      get() {
        throw error;
      },
    });
  const app = new OpenAPIHono();
  app.use(ownRequestId, logRequests(acme.app.deps.log));
  mountPages(app, { ...acme.app.deps, db: thrown(), sql: thrown() }, new CallerLimits(acme.clock));
  return app.request('/repos/acme/web', { headers: { 'X-Request-Id': 'chosen-by-the-client' } });
}

test('if the database does not answer, a page says so, and when to try again', async () => {
  const gone = new Prisma.PrismaClientKnownRequestError('gone', { code: 'P1001', clientVersion: '7' });
  const answer = await pageWhere(gone);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('5');
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  const text = await answer.text();
  expect(text).toContain('<h1>This page is not available</h1>');
  expect(text).toContain('The database does not answer.');
});

test.each([
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
])('if the connection breaks (%s), a page says so, and when to try again', async (message) => {
  const answer = await pageWhere(new Error(message));
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('5');
  expect(await answer.text()).toContain('The connection to the database broke');
});

test('an unexpected error shows only its id in the log', async () => {
  const answer = await pageWhere(new Error('a secret of ours'));
  expect(answer.status).toBe(500);
  const id = answer.headers.get('x-request-id')!;
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const text = await answer.text();
  expect(text).toContain(`the request ID ${id} to the people who run this service.`);
  expect(text).not.toContain('a secret of ours');
  const line = acme.logs.find((each) => each.includes(id) && each.includes('a request failed'));
  expect(line).toContain('a secret of ours');
});
