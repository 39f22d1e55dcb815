// In any order, and at the same moment: a head that nobody approved is never free.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { amount } from './support/amounts.ts';

const acme = acmeForAll();

type Action =
  | { do: 'push'; isLost: boolean }
  | { do: 'request'; anyHead: boolean; minutes: number }
  | { do: 'approve' | 'revoke'; which: number }
  | { do: 'freeze' | 'thaw' }
  | { do: 'wait'; minutes: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('push' as const), isLost: fc.boolean() }),
  fc.record({
    do: fc.constant('request' as const),
    anyHead: fc.boolean(),
    minutes: fc.integer({ min: 1, max: 8 }),
  }),
  fc.record({ do: fc.constantFrom('approve' as const, 'revoke' as const), which: fc.nat({ max: 3 }) }),
  fc.record({ do: fc.constantFrom('freeze' as const, 'thaw' as const) }),
  fc.record({ do: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 5 }) }),
);
/** Things that happen at the same moment, one group after the other. */
const story = fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 6 });

/** An exemption as the model knows it. @property head null: any. */
type Known = { id: string; head: string; anyHead: boolean; expiresAt: number };

let stories = 0;

async function play(groups: Action[][]): Promise<void> {
  const { github, call, admin, clock } = acme;
  const name = `story-${++stories}`;
  const web = await acme.repository(name, [{}]);
  await acme.app.deps.db.repository.updateMany({
    where: { name },
    data: { settings: { two_person_exemptions: true } },
  });
  const rita = github.addToken('ada', { kind: 'classic', scopes: ['repo'] });
  const freezes: string[] = [];
  const known: Known[] = [];
  const approved = new Set<string>();
  const over = new Set<string>();
  const headOf = () => github.pullRequests(web)[0]!.headSha;
  const send = (path: string, body: object, as = admin) =>
    call('POST', `/v1/repos/${web}/${path}`, { as, body });

  let looks = 0;
  const letsThrough = ({ id, ...one }: Known) =>
    approved.has(id) &&
    !over.has(id) &&
    one.expiresAt > clock.now() &&
    (one.anyHead || one.head === headOf());
  const isFreeNow = () => freezes.length === 0 || known.some(letsThrough);

  const act: Record<string, (each: never) => Promise<unknown>> = {
    async push({ isLost }: { isLost: boolean }) {
      if (isLost) github.webhookFaults.add({ kind: 'drop', event: 'pull_request' });
      github.push(web, 1);
    },
    async request({ anyHead, minutes }: { anyHead: boolean; minutes: number }) {
      const expiresAt = clock.now() + minutes * 60_000;
      const body = { reason: 'A fix', any_head: anyHead, expires_at: new Date(expiresAt).toISOString() };
      const answer = await send('pulls/1/exemptions', body);
      expect(answer.status, answer.text).toBe(201);
      known.push({ id: answer.body.id, head: answer.body.head_sha, anyHead, expiresAt });
    },
    async approve({ which }: { which: number }) {
      const one = known[which];
      if (!one) return;
      const answer = await send(`exemptions/${one.id}/approve`, {}, rita);
      expect([200, 409], answer.text).toContain(answer.status);
      if (answer.status === 200) approved.add(one.id);
    },
    async revoke({ which }: { which: number }) {
      const one = known[which];
      if (!one) return;
      const answer = await send(`exemptions/${one.id}/revoke`, { reason: 'No' });
      expect([200, 409], answer.text).toContain(answer.status);
      if (answer.status === 200) over.add(one.id);
    },
    async freeze() {
      const body = { reason: 'Release', start: null, timezone: 'UTC' };
      freezes.push((await send('scheduled_freeze', body)).body.id);
    },
    async thaw() {
      const id = freezes.pop();
      if (id) await send(`scheduled_freeze/${id}/delete`, { delete_reason: 'Done' });
    },
    wait: async () => {},
  };

  for (const group of groups) {
    await Promise.all(group.map((each) => act[each.do]!(each as never)));
    github.webhookFaults.clear();
    await acme.quiet();
    const minutes = Math.max(0, ...group.map((each) => (each.do === 'wait' ? each.minutes : 0)));
    await acme.advanceTo(new Date(clock.now() + minutes * 60_000));
    if (group.some((each) => each.do === 'push' && each.isLost)) {
      if (acme.shown(web, 1)?.state === 'success') expect(isFreeNow()).toBe(true);
      // The next observation finds what no event told.
      github.label(web, 1, `seen-${++looks}`);
      await acme.quiet();
    }

    const { body } = await call('GET', `/v1/repos/${web}/exemptions`, { as: admin });
    const states = new Map(
      body.exemptions.map(({ id, state }: { id: string; state: string }) => [id, state]),
    );
    const head = headOf();
    expect({ group, state: acme.shown(web, 1)?.state }).toEqual({
      group,
      state: isFreeNow() ? 'success' : 'pending',
    });
    for (const one of known) {
      const isOpen = !over.has(one.id) && one.expiresAt > clock.now() && (one.anyHead || one.head === head);
      const open = approved.has(one.id) ? 'approved' : 'requested';
      const state = over.has(one.id) ? 'revoked' : isOpen ? open : 'expired';
      expect({ group, state: states.get(one.id) }).toEqual({ group, state });
    }
  }
}

test('exemptions, pushes, freezes and time in any order agree with a simple model', async () => {
  await fc.assert(fc.asyncProperty(story, play), { numRuns: amount(12) });
}, 120_000);

test('an approval and a push in the same second: the new head is held, whichever comes first', async () => {
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(['push', 'approve'] as const, { minLength: 2 }), async (order) => {
      const approve = { do: 'approve', which: 0 } as const;
      const push = { do: 'push', isLost: false } as const;
      await play([
        [{ do: 'freeze' }],
        [{ do: 'request', anyHead: false, minutes: 8 }],
        order.map((what) => (what === 'push' ? push : approve)),
      ]);
    }),
    { numRuns: 6 },
  );
}, 120_000);
