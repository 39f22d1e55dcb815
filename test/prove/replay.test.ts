// A proof is a conversation: another sandbox, to which the same is said, answers the same.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appJwt } from '../sandbox/acme.ts';
import { organization, type Proof, type ProvingGround, startProvingGround } from './proof.ts';

type Exchange = Proof['steps'][number]['exchanges'][number];

let ground: ProvingGround;
beforeAll(async () => {
  ground = await startProvingGround();
});
afterAll(() => ground.close());

/** Learns which value stands for which: those of a recorded answer for those of the same answer now. */
function learn(recorded: unknown, now: unknown, known: Map<string, string>): void {
  if (recorded !== null && typeof recorded === 'object')
    for (const [key, value] of Object.entries(recorded))
      learn(value, (now as Record<string, unknown> | null)?.[key], known);
  else if (/^(?:[A-Z]+_|[0-]*)10000\d\d$/.test(String(recorded)) && now !== undefined)
    known.set(String(recorded), String(now));
}

/** Has a conversation with the sandbox. @returns what was asked, and the status and message of each answer. */
async function converse(exchanges: Exchange[], name: string): Promise<[asked: string, answered: unknown][]> {
  const { github, token } = ground;
  const [, appId = ''] = /"integration_id":(\d+)/.exec(JSON.stringify(exchanges))!;
  const known = new Map([[appId, String(github.app.id)]]);
  const meant = (text: string) => {
    const named = text.replaceAll('holdfast-prove-run', name).replaceAll(/\bacme\b/g, organization);
    // The longest first: a SHA ends with a number.
    const all = [...known].toSorted(([one], [other]) => other.length - one.length);
    return all.reduce((so, [recorded, now]) => so.replaceAll(recorded, now), named);
  };
  const answers: [string, unknown][] = [];
  for (const { as, request, response } of exchanges) {
    const credential =
      { ada: token, app: appJwt(github) }[as] ?? (await ground.installationToken(as === 'second'));
    for (let tries = 0; ; tries++) {
      const answer = await fetch(github.url + meant(request.path), {
        method: request.method,
        redirect: 'manual',
        headers: { authorization: `Bearer ${credential}`, 'user-agent': 'replay' },
        ...(request.body !== undefined && { body: meant(JSON.stringify(request.body)) }),
      });
      const text = await answer.text();
      const body = text === '' ? null : JSON.parse(text);
      // Something that runs in the background may take a moment.
      if (body?.status === 'pending' && response.body.status !== 'pending' && tries < 50) {
        await new Promise((resolve) => void setImmediate(resolve));
        continue;
      }
      learn(response.body, body, known);
      answers.push([`${request.method} ${request.path}`, { status: answer.status, message: body?.message }]);
      break;
    }
  }
  return answers;
}

test('a sandbox answers the recorded questions of a proof with the same statuses and messages', async () => {
  const { proof } = await ground.prove([
    '--only',
    'missing,released,texts,async,forged,renamed,archived,pinned',
  ]);
  expect(proof.steps).toHaveLength(8);
  for (const [index, { name, exchanges }] of proof.steps.entries()) {
    const said = exchanges.map(({ request, response }) => [
      `${request.method} ${request.path}`,
      { status: response.status, message: response.body?.message },
    ]);
    expect(await converse(exchanges, `holdfast-prove-0000000${index}`), name).toEqual(said);
  }
});

test('a proof has no name, id, time or token of its run', async () => {
  const { proof } = await ground.prove(['--only', 'released,comment']);
  const text = JSON.stringify(proof.steps.map(({ exchanges }) => exchanges));
  expect(text).not.toMatch(/olga|proving-ground|holdfast-prove-[0-9a-f]{8}|gh[ops]_|2026-11-26|BEGIN/);
  const again = await ground.prove(['--only', 'released,comment']);
  expect(again.proof.steps.map(({ exchanges }) => exchanges)).toEqual(
    proof.steps.map(({ exchanges }) => exchanges),
  );
});
