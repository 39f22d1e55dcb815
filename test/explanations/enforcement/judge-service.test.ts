import { expect, test } from 'vitest';
import {
  judgeRateLimit,
  judgeWebhooks,
  whySpare,
} from '../../../src/explanations/enforcement/judge-service.ts';
import { known, unknownFact } from '../../../src/github/pull-requests/pull-request.ts';

// Answers that the sandbox cannot give: an App that never had a delivery, servers without limits.

const settings = 'https://github.com/settings/apps/holdfast';
const hook = (contentType: string) => known({ url: 'https://holdfast.example/hook', contentType });
const facts = { attempts: known([]), hook: hook('json'), lastReceived: null, settings, unnamedProxy: null };

test('an App that never got a delivery is unknown', () => {
  expect(judgeWebhooks(facts)).toMatchObject({
    state: 'unknown',
    message: 'GitHub has sent no webhook to https://holdfast.example/hook in three days.',
    remedy: expect.stringContaining(`${settings}/advanced`),
  });
});

test('deliveries that GitHub does not show are unknown, no matter what arrived here', () => {
  const lastReceived = new Date('2026-03-01T09:00:00Z');
  const attempts = unknownFact('GitHub did not answer');
  expect(judgeWebhooks({ ...facts, attempts, lastReceived })).toMatchObject({
    state: 'unknown',
    message: expect.stringContaining('arrived at 2026-03-01T09:00:00Z'),
  });
});

test('Holdfast refuses webhooks as forms, although GitHub may call them delivered', () => {
  const attempts = known([
    { guid: 'a', at: new Date(0), isDelivered: true, status: 'OK', isMadeGood: false },
  ]);
  expect(judgeWebhooks({ ...facts, attempts }).state).toBe('ok');
  expect(judgeWebhooks({ ...facts, attempts, unnamedProxy: '10.0.0.7' })).toMatchObject({
    state: 'warning',
    remedy: 'If 10.0.0.7 is your proxy, add it to TRUSTED_PROXIES.',
  });
  expect(judgeWebhooks({ ...facts, attempts, hook: hook('form') }).state).toBe('failed');
});

test('a server without limits has enough left; one that says nothing is unknown, and is asked', () => {
  expect([judgeRateLimit(known(null)).state, whySpare(known(null))]).toEqual(['ok', null]);
  const silent = unknownFact('GitHub did not answer');
  expect([judgeRateLimit(silent).state, whySpare(silent)]).toEqual(['unknown', null]);
});

test.each([
  [500, 'ok', null],
  [499, 'warning', 'is nearly used up, and the rest is reserved for statuses,'],
  [0, 'failed', 'is used up'],
])('of 5000 requests %i are left: %s', (remaining, state, why) => {
  const budget = { name: 'requests', limit: 5000, remaining, resetAt: new Date('2026-03-01T10:00:00Z') };
  expect(judgeRateLimit(known([budget])).state).toBe(state);
  expect(whySpare(known([budget]))).toBe(why && `GitHub's rate limit ${why} until 2026-03-01T10:00:00Z`);
});
