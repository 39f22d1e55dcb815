import { expect, test } from 'vitest';
import { acmeForAll } from './acme.ts';

const acme = acmeForAll();

test.each([
  ['GET', '/v1/repos/acme/web/scheduled_freeze', 200],
  ['GET', '/v1/openapi.json', 200],
  ['POST', '/v1/repos/acme/web/scheduled_freeze', 422],
  ['GET', '/v1/repos/acme/nowhere/scheduled_freeze', 404],
  ['GET', '/v1/nothing', 404],
  ['PUT', '/v1/repos/acme/web/pulls/1/scopes', 403],
])('%s %s is not stored, and browsers do not guess its type', async (method, path, status) => {
  const answer = await acme.call(method, path, { as: acme.keys.admin });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('cache-control')).toMatch(/\bno-store$/);
});
