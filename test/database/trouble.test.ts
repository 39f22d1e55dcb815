import pg from 'pg';
import { describe, expect, test } from 'vitest';
import type { DatabaseTrouble } from '../../src/database/trouble.ts';
import { explainTrouble, kindOf, troubleOf } from '../../src/database/trouble.ts';

const withCode = (code: string, message = 'it failed') => Object.assign(new Error(message), { code });

test.each([
  ['ENOTFOUND', 'unresolved'],
  ['EAI_AGAIN', 'unresolved'],
  ['ECONNREFUSED', 'unreachable'],
  ['ECONNRESET', 'unreachable'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['EPIPE', 'unreachable'],
  ['08006', 'unreachable'],
  ['ETIMEDOUT', 'unreachable'],
  ['57014', 'silent'],
  ['25P03', 'silent'],
  ['P2028', 'silent'],
  ['57P01', 'stopping'],
  ['57P03', 'stopping'],
  ['53300', 'connections'],
  ['25006', 'read_only'],
  ['53100', 'full'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['53200', 'failing'],
  ['58030', 'failing'],
  ['28P01', 'refused'],
  ['28000', 'refused'],
  ['3D000', 'refused'],
  ['CERT_HAS_EXPIRED', 'encryption'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'encryption'],
  ['42P05', 'pooler'],
  ['26000', 'pooler'],
  ['23505', null],
  ['40001', null],
  ['40P01', null],
  ['55P03', null],
  ['22P02', null],
  ['42P01', null],
  ['P2002', null],
  ['P2034', null],
])('%s is %s', (code, kind) => {
  expect(kindOf(withCode(code))).toBe(kind);
});

test.each([
  ['Connection terminated unexpectedly', 'unreachable'],
  ['Client has encountered a connection error and is not queryable', 'unreachable'],
  ['timeout expired', 'unreachable'],
  ['Connection terminated due to connection timeout', 'unreachable'],
  ['timeout exceeded when trying to connect', 'silent'],
  ['Query read timeout', 'silent'],
  ['The server does not support SSL connections', 'encryption'],
  ['could not write to file "pg_wal/xlogtemp.1": No space left on device', 'full'],
  ['Cannot read properties of undefined', null],
])('a driver that says "%s" without a code means %s', (message, kind) => {
  expect(kindOf(new Error(message))).toBe(kind);
});

test('a code that stands for much is told by what is said, and a text of somebody is not taken for it', () => {
  expect(kindOf(withCode('58030', 'could not write to file: No space left on device'))).toBe('full');
  expect(kindOf(withCode('08P01', 'unsupported startup parameter: options'))).toBe('pooler');
  expect(kindOf(withCode('22P02', 'invalid input syntax: "No space left on device"'))).toBeNull();
});

describe('trouble of the database', () => {
  test('it is told from trouble with others, who have the same codes', () => {
    expect(troubleOf(withCode('ECONNREFUSED'))).toBeNull();
    const trouble = explainTrouble(withCode('ECONNREFUSED'), false);
    expect(troubleOf(trouble)).toBe(trouble);
    expect(troubleOf(new AggregateError([new Error('other'), trouble]))).toBe(trouble);
    expect(troubleOf(withCode('P2024'))?.kind).toBe('silent');
    expect(troubleOf(withCode('P2002'))).toBeNull();
  });

  test('what it says has no secret, and keeps the cause', () => {
    const cause = withCode('28P01', 'password authentication failed for user "s3cret"');
    const trouble = explainTrouble(cause, false) as DatabaseTrouble;
    expect(trouble.message).not.toContain('s3cret');
    expect(trouble.cause).toBe(cause);
  });

  test('a change may be saved only if its answer was lost', () => {
    const isUncertain = (error: unknown, wasAsked: boolean) =>
      (explainTrouble(error, wasAsked) as DatabaseTrouble).isUncertain;
    expect(isUncertain(withCode('ECONNREFUSED'), false)).toBe(false);
    expect(isUncertain(new Error('Connection terminated unexpectedly'), true)).toBe(true);
    expect(isUncertain(new Error('Query read timeout'), true)).toBe(true);
    const canceled = Object.assign(new pg.DatabaseError('canceling statement', 1, 'error'), {
      code: '57014',
      severity: 'ERROR',
    });
    expect(isUncertain(canceled, true)).toBe(false);
    expect(isUncertain(withCode('53100'), true)).toBe(false);
  });

  test('an error about the question is left as it is', () => {
    const error = withCode('23505');
    expect(explainTrouble(error, true)).toBe(error);
  });
});
