// Verbs of the stories about freeze plans of acme.
import { expect } from 'vitest';
import type { Acme } from './acme.ts';

export const plans = '/v1/freeze_plans/acme';
/** A plan that holds everything over the end of a year. */
export const yearEnd = {
  name: 'Year end',
  reason: 'Books are closed',
  repositories: { include: ['*'], exclude: ['sandbox-*'] },
  start: '2026-03-02T18:00:00',
  end: '2026-03-09T08:00:00',
  timezone: 'Europe/Paris',
};

export function plansOf(acme: Acme) {
  const call = (method: string, path: string, sent?: object) =>
    acme.call(method, path, { as: acme.admin, body: sent });
  async function create(more: object = {}) {
    const answer = await call('POST', plans, { ...yearEnd, ...more });
    expect(answer.status, answer.text).toBe(201);
    await acme.quiet();
    return answer.body;
  }
  async function update(id: string, change: object) {
    const answer = await call('PATCH', `${plans}/${id}`, change);
    expect(answer.status, answer.text).toBe(200);
    await acme.quiet();
    return answer.body;
  }
  async function remove(id: string) {
    const answer = await call('POST', `${plans}/${id}/delete`, { delete_reason: 'Done' });
    expect(answer.status, answer.text).toBe(204);
    await acme.quiet();
  }
  const show = async (id: string) => (await call('GET', `${plans}/${id}`)).body;
  const freezes = async (repository: string): Promise<Record<string, unknown>[]> =>
    (await call('GET', `/v1/repos/acme/${repository}/scheduled_freeze`)).body.scheduled_freezes;
  const starts = async (repository: string) => (await freezes(repository)).map(({ start }) => start);
  const log = async (place: string): Promise<{ type: string; metadata: Record<string, unknown> }[]> =>
    (await call('GET', `/v1/${place}/logs?received_from=2026-01-01T00:00:00Z&per_page=100`)).body.events;

  return { call, create, update, remove, show, freezes, starts, log };
}
