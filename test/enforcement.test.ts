import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../src/enforcement/finding.ts';
import { type Acme, startAcme } from './support/acme.ts';

let acme: Acme;
beforeAll(async () => {
  acme = await startAcme();
});
afterEach(() => {
  acme.github.comeBack();
  acme.github.faults.clear();
  acme.github.setClockAhead(0);
});
afterAll(() => acme.close());

const context = 'holdfast/freeze';
const ours = () => ({ context, app: acme.github.app.id });
const unprotected = { protect: {} };

type Report = { enforced: boolean | 'unknown'; checked_at: string; findings: Finding[] };

async function look(repository: string): Promise<Report> {
  const answer = await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const find = ({ findings }: Report, check: Finding['check'], branch?: string): Finding | undefined =>
  findings.find((each) => each.check === check && (branch === undefined || each.branch === branch));

test('a look at acme', async () => {
  const web = await acme.repository('web', [{}], unprotected);
  console.log(JSON.stringify(await look(web), null, 1));
});
