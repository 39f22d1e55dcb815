import { expect, inject, test } from 'vitest';
import { openConnection } from '../../src/database/connect.ts';
import { explainFailure, UnusableDatabase } from '../../src/database/database-errors.ts';

const url = 'postgres://hold%40fast:s3cret@db.example:5432/hold%20fast';

test.each([
  ['ECONNREFUSED', 'PostgreSQL does not answer at DATABASE_URL: start it, or correct the URL.'],
  ['ENOTFOUND', 'There is no host db.example: correct DATABASE_URL.'],
  ['28P01', 'PostgreSQL refuses the user hold@fast or its password: correct DATABASE_URL.'],
  ['28000', 'PostgreSQL refuses the user hold@fast or its password: correct DATABASE_URL.'],
  ['3D000', 'PostgreSQL has no database hold fast: create it, or correct DATABASE_URL.'],
  [
    '42501',
    'The user hold@fast of DATABASE_URL may not create or use tables: make it the owner of the database and of its tables.',
  ],
])('%s: one sentence says what to do, without the password', (code, sentence) => {
  const found = explainFailure(Object.assign(new Error('it failed'), { code }), url) as Error;
  expect(found).toBeInstanceOf(UnusableDatabase);
  expect(found.message).toBe(sentence);
  expect(found.message).not.toContain('s3cret');
});

test('no answer in time is told, and an unknown failure is left as it is', () => {
  expect((explainFailure(new Error('timeout expired'), url) as Error).message).toContain(
    'PostgreSQL did not answer at DATABASE_URL within 10 seconds',
  );
  const unknown = Object.assign(new Error('odd'), { code: 'XX000' });
  expect(explainFailure(unknown, url)).toBe(unknown);
});

test('a port where nothing listens, and a host that is not there', async () => {
  const connectionString = (host: string) => `postgres://holdfast@${host}/holdfast`;
  await expect(openConnection({ connectionString: connectionString('127.0.0.1:9') })).rejects.toThrow(
    'PostgreSQL does not answer at DATABASE_URL',
  );
  await expect(openConnection({ connectionString: connectionString('holdfast.invalid') })).rejects.toThrow(
    UnusableDatabase,
  );
});

test.skipIf(!inject('postgresUrl'))('PostgreSQL says which part of the URL is wrong', async () => {
  const opening = (change: (url: URL) => void) => {
    const connection = new URL(inject('postgresUrl'));
    change(connection);
    return openConnection({ connectionString: connection.href });
  };
  await expect(opening((at) => (at.pathname = '/not_there'))).rejects.toThrow('has no database not_there');
  await expect(opening((at) => (at.username = 'nobody_here'))).rejects.toThrow(
    'refuses the user nobody_here',
  );
});
