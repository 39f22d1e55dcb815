import { expect, test } from 'vitest';
import { noticeTypeOf } from '../../src/events/notice-type.ts';
import type { AuditEvent } from '../../src/events/audit-event.ts';
import { boundariesSince, nextBoundary } from '../../src/freezes/freeze-window.ts';

const at = (time: string | null) => (time === null ? null : new Date(`2026-03-01T${time}:00Z`));
const told = (instant: Date | null) => instant?.toISOString().slice(11, 16) ?? null;

/** A window, and every instant at which the clock does something, if it was made at 09:00. */
test.each<[start: string, end: string | null, instants: string[]]>([
  ['12:00', '15:00', ['11:00', '12:00', '14:00', '15:00']],
  ['12:00', null, ['11:00', '12:00']],
  ['09:30', '12:00', ['09:30', '11:00', '12:00']],
  ['08:00', '09:45', ['09:45']],
  ['08:00', null, []],
  // An hour or less does not end soon, and exactly an hour ahead is not more than an hour.
  ['12:00', '13:00', ['11:00', '12:00', '13:00']],
  ['12:00', '12:30', ['11:00', '12:00', '12:30']],
  ['10:00', '11:30', ['10:00', '10:30', '11:30']],
])('a freeze from %s to %s', (start, end, instants) => {
  const window = { startsAt: at(start)!, endsAt: at(end) };
  const found: (string | null)[] = [];
  for (let next = nextBoundary(window, at('09:00')!); next; next = nextBoundary(window, next))
    found.push(told(next));
  expect(found).toEqual(instants);
});

/** When the clock was last seen, now, and what it did since: nothing comes soon that is there already. */
test.each<[since: string, now: string, types: string[]]>([
  ['11:00', '11:00', ['starting_soon']],
  ['11:00', '11:59', ['starting_soon']],
  ['11:00', '12:00', ['started']],
  ['12:00', '14:30', ['started', 'ending_soon']],
  ['11:00', '16:00', ['started', 'ended']],
  ['15:00', '16:00', ['ended']],
  ['14:00', '13:00', []],
])('from %s to %s', (since, now, types) => {
  const window = { startsAt: at('12:00')!, endsAt: at('15:00') };
  const found = boundariesSince(window, at(since)!, at(now)!);
  expect(found.map(({ type }) => type)).toEqual(types.map((type) => `freeze.${type}`));
});

const freeze = (start: string, end: string | null = null) => ({
  reason: 'Release',
  start: `2026-03-01T${start}:00`,
  end: end && `2026-03-01T${end}:00`,
  timezone: 'Europe/Paris',
});
const created = (start: string) => ({
  type: 'scheduled_freeze.create',
  metadata: { scheduled_freeze_attributes: freeze(start) },
});
const updated = (before: object, after: object) => ({
  type: 'scheduled_freeze.update',
  metadata: { scheduled_freeze_attributes_before: before, scheduled_freeze_attributes_after: after },
});

/** What people are told of an event at 09:00 UTC, which is 10:00 in Paris. */
test.each<[type: string | null, event: object]>([
  ['freeze.scheduled', created('10:01')],
  ['freeze.started', created('10:00')],
  ['freeze.updated', updated(freeze('10:01'), freeze('10:02'))],
  ['freeze.started', updated(freeze('10:01'), freeze('10:00'))],
  ['freeze.updated', updated(freeze('09:00'), freeze('09:00', '11:00'))],
  ['freeze.ended', updated(freeze('09:00'), freeze('09:00', '10:00'))],
  ['freeze.deleted', { type: 'scheduled_freeze.delete', metadata: {} }],
  ['freeze.bypassed', { type: 'freeze.bypassed', metadata: {} }],
  ['exemption.used', { type: 'exemption.used', metadata: {} }],
  ['webhook.disabled', { type: 'webhook.disabled', metadata: {} }],
  [null, { type: 'webhook.create', metadata: {} }],
  [null, { type: 'freeze.still_on', metadata: {} }],
  [null, { type: 'freeze_plan.create', metadata: {} }],
])('%s is told', (type, event) => {
  expect(noticeTypeOf(event as AuditEvent, at('09:00')!)).toBe(type);
});
