import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Notice } from '../../src/notices/notice.ts';
import { standardBody } from '../../src/notices/post.ts';

const notice: Notice = {
  id: 'evt_1',
  type: 'freeze.updated',
  at: new Date('2026-03-01T09:00:00Z'),
  late: false,
  owner: 'acme',
  repository: 'acme/web',
  pullRequest: null,
  actor: null,
  url: 'https://holdfast.example/repos/acme/web',
  planId: null,
  freeze: { id: 'f', reason: 'Layoffs', public_reason: 'Quarter end' },
  exemption: null,
  details: {},
};
const read = (changed: Partial<Notice>, isPublic = false) =>
  JSON.parse(standardBody({ ...notice, ...changed }, isPublic)) as { data: Record<string, unknown> };

test('what happened, when, and where', () => {
  expect(read({})).toEqual({
    type: 'freeze.updated',
    timestamp: '2026-03-01T09:00:00.000Z',
    data: { repository: 'acme/web', freeze: notice.freeze, actor: null, url: notice.url },
  });
  expect(read({ late: true, pullRequest: 7, details: { head_sha: 'abc' } }).data).toMatchObject({
    late: true,
    pull_request: 7,
    head_sha: 'abc',
  });
});

test('public text has public reasons, and no reasons of deletions and decisions', () => {
  const exemption = {
    id: 'e',
    reason: 'Layoffs',
    public_reason: null,
    decision_reason: 'Layoffs',
    state: 'denied',
  };
  const details = {
    reason: 'Layoffs',
    scheduled_freeze_attributes_before: { reason: 'Layoffs', public_reason: 'Soon' },
  };
  expect(JSON.stringify(read({ exemption, details }, true))).not.toContain('Layoffs');
  expect(read({ exemption, details }, true).data).toMatchObject({
    freeze: { reason: 'Quarter end' },
    scheduled_freeze_attributes_before: { reason: 'Soon' },
  });
  expect(
    read({ freeze: { id: 'f', reason: 'Open', public_reason: null } }, true).data['freeze'],
  ).toMatchObject({
    reason: 'Open',
  });
  expect(JSON.stringify(read({ exemption, details })).match(/Layoffs/g)).toHaveLength(5);
});

test.each(['😀', '👩‍💻', 'x😀'])(
  'long texts of %s are cut between characters, as strict readers of JSON want',
  (text) => {
    const reason = text.repeat(5_000);
    const body = standardBody({ ...notice, freeze: { id: 'f', reason }, details: { reason } }, false);
    // A lone half stands as an escape.
    expect(body).not.toMatch(/\\ud[89a-f]/i);
  },
);

test('it stays below 20 kB, whatever people wrote', () => {
  const text = fc.string({ unit: 'binary', maxLength: 12_000 });
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 40 }), fc.boolean(), (reason, conditions, isPublic) => {
      const freeze = { id: 'f', reason, public_reason: null, matching_conditions: conditions };
      const body = standardBody({ ...notice, freeze, details: { reason, more: { conditions } } }, isPublic);
      expect(Buffer.byteLength(body)).toBeLessThan(20_000);
      const { data } = JSON.parse(body) as { data: Record<string, unknown> };
      expect(data).toMatchObject({ repository: 'acme/web', freeze: { id: 'f' }, url: notice.url });
    }),
    { numRuns: 40 },
  );
});
