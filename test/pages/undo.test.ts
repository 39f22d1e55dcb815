import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { exemptionsOf } from '../support/exemptions.ts';
import { signedIn, type Visitor } from '../support/visitor.ts';

// Somebody ends too much. The page that follows takes it back.

const acme = acmeForAll();
let ada: Visitor;
let bob: Visitor;
const later = async (seconds: number) =>
  acme.advanceTo(new Date(acme.clock.now() + seconds * 1000).toISOString());
/** The form with the button: where it goes, and its fields. */
function undoOn(html: string) {
  const form = /<form class="undo" method="post" action="([^"]+)">(.*?)<\/form>/s.exec(html);
  if (!form) return null;
  const fields = [...form[2]!.matchAll(/name="([^"]+)"\s+value="([^"]*)"/g)];
  return { action: form[1]!, fields: Object.fromEntries(fields.map(([, name, value]) => [name!, value!])) };
}
async function press(visitor: Visitor, html: string) {
  const undo = undoOn(html)!;
  const answer = await visitor.send(undo.action, undo.fields);
  await acme.quiet();
  return answer;
}
const end = async (visitor: Visitor, fields: Record<string, string | string[]>) => {
  const ended = await visitor.send('/owners/acme/unfreeze', { ...fields, delete_reason: 'Over' });
  await acme.quiet();
  return visitor.open(ended.location);
};
const valuesOn = (html: string) =>
  [...html.matchAll(/name="ongoing"\s+value="([^"]+)"/g)].map(([, value]) => value!);
const ofAll = async (visitor: Visitor) => valuesOn((await visitor.open('/owners/acme/unfreeze')).text);

beforeAll(async () => {
  acme.github.addUser('wes');
  for (const name of ['api', 'web', 'infra'])
    await acme.repository(name, [{}], { roles: { bob: name === 'infra' ? 'read' : 'admin', wes: 'write' } });
  ada = await signedIn(acme, 'ada');
  bob = await signedIn(acme, 'bob');
});
beforeEach(() => later(120));
const frozen = () => ['api', 'web', 'infra'].filter((name) => acme.frozen(`acme/${name}`).length > 0);
const plan = async (more: object) => {
  const body = { name: 'Rest', reason: 'Rest', start: null, end: null, timezone: 'UTC', ...more };
  const made = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
  expect(made.status, made.text).toBe(201);
  await acme.quiet();
  return made.body.id as string;
};
const endAll = async () => {
  await end(ada, { ongoing: await ofAll(ada) });
  expect(frozen()).toEqual([]);
};

test('Undo restores all that one press of Unfreeze ended, plans and freezes, and nothing else', async () => {
  const id = await plan({ repositories: { include: ['api', 'infra'] } });
  await acme.freeze('acme/web', { reason: 'Alone' });
  await acme.freeze('acme/infra', { reason: 'Ended before' });
  const values = await ofAll(ada);
  expect(values).toHaveLength(3);
  const before = await ada.open('/owners/acme/unfreeze');
  const other = (await acme.app.deps.db.freeze.findFirstOrThrow({ where: { reason: 'Ended before' } })).id;
  await end(ada, { ongoing: `freezes ${other}` });
  await later(1);
  const ongoing = values.filter((value) => !value.includes(other));
  const { location: ended } = await ada.send('/owners/acme/unfreeze', { ongoing, delete_reason: 'Over' });
  await acme.quiet();
  const page = await ada.open(ended);
  expect(frozen()).toEqual([]);
  expect(page.text).toContain('Unfrozen.');
  const undone = await press(ada, page.text);
  expect(undone.location).toBe('/repos/acme?said=restored');
  expect((await ada.open(undone.location)).text).toContain('The freezes are as they were');
  expect((await ada.open(ended)).text).not.toContain('Unfrozen.');
  expect(frozen()).toEqual(['api', 'web', 'infra']);
  expect(await ofAll(ada)).toEqual(valuesOn(before.text).filter((value) => !value.includes(other)));
  const shown = await acme.call('GET', `/v1/freeze_plans/acme/${id}`, { as: acme.admin });
  expect(shown.body).toMatchObject({ name: 'Rest', detached: [] });
  const log = await acme.call('GET', '/v1/logs/acme', { as: acme.admin });
  expect(log.body.events[0]).toMatchObject({ type: 'freeze_plan.restore', trigger: 'page' });
  // A second press finds nothing.
  const again = await press(ada, page.text);
  expect(again.status).toBe(409);
  expect(again.text).toContain('There is nothing to undo');
  await endAll();
});

describe('Undo is offered', () => {
  test('for 10 seconds, to who pressed, and works for 60', async () => {
    await acme.freeze('acme/web');
    const [value] = await ofAll(ada);
    const ended = await ada.send('/owners/acme/unfreeze', { ongoing: value!, delete_reason: 'Over' });
    await acme.quiet();
    const first = await ada.open(ended.location);
    expect(undoOn(first.text)).not.toBeNull();
    // Somebody else who gets the address undoes nothing.
    expect((await press(bob, (await bob.open(ended.location)).text || first.text)).status).toBe(409);
    await later(10);
    expect(undoOn((await ada.open(ended.location)).text)).toBeNull();
    await later(45);
    expect((await press(ada, first.text)).status).toBe(303);
    expect(frozen()).toEqual(['web']);
    const page = await end(ada, { ongoing: await ofAll(ada) });
    await later(60);
    const late = await press(ada, page.text);
    expect(late.status).toBe(409);
    expect(late.text).toContain('more than 60 seconds ago');
    expect(frozen()).toEqual([]);
  });

  test('to a person who may freeze only some repositories', async () => {
    await acme.freeze('acme/api');
    const values = valuesOn((await bob.open('/owners/acme/unfreeze')).text);
    const page = await end(bob, { ongoing: values, repository: ['api', 'web'] });
    expect(frozen()).toEqual([]);
    expect((await press(bob, page.text)).status).toBe(303);
    expect(frozen()).toEqual(['api']);
    await endAll();
  });

  test.each([
    ['end', 'The freeze has ended', {}],
    ['delete', 'The freeze was deleted', { delete_reason: 'Over' }],
  ])('on the page of a freeze after %s', async (form, says, fields) => {
    const { id } = await acme.freeze('acme/web', { start: '2026-02-28T00:00:00' });
    const path = `/repos/acme/web/freezes/${id}`;
    const version = /name="version"\s+value="(\d+)"/.exec((await ada.open(path)).text)![1]!;
    const done = await ada.send(`${path}/${form}`, { version, ...fields });
    const page = await ada.open(done.location);
    expect(page.text).toContain(says);
    const undone = await press(ada, page.text);
    expect(undone.location).toBe(`${path}?done=restored`);
    expect((await ada.open(undone.location)).text).toContain('blocks again within seconds');
    expect(frozen()).toEqual(['web']);
    // A page that updates itself asks for its own address, and no longer says what is over.
    expect((await ada.open(done.location)).text).not.toContain(says);
    await later(60);
    await endAll();
  });

  test('on the page of a plan after its freezes were ended there, and not after a plan was deleted', async () => {
    const id = await plan({
      repositories: { include: ['web'] },
      start: '2026-03-01T00:00:00',
      end: '2026-03-01T23:00:00',
      recurrence: { rule: 'FREQ=DAILY' },
    });
    const path = `/owners/acme/plans/${id}`;
    const page = await end(ada, { ongoing: `freezes ${id}`, plan: id });
    expect(page.text).toContain('<h1><bdi>Rest</bdi></h1>');
    expect((await press(ada, page.text)).location).toBe(`${path}?said=restored`);
    expect(frozen()).toEqual(['web']);
    expect((await ada.open(`${path}?said=plan-ended`)).text).not.toContain('The plan has ended');
    const version = () =>
      ada
        .open(path)
        .then(({ text }) => /plans\/[^"]+\/delete">.*?name="version"\s+value="([^"]+)"/s.exec(text)![1]!);
    const deleted = await ada.send(`${path}/delete`, { version: await version(), delete_reason: 'Over' });
    expect(undoOn((await ada.open(deleted.location)).text)).toBeNull();
  });

  test('after an approval, which it revokes', async () => {
    const { request } = exemptionsOf(acme);
    await acme.freeze('acme/infra');
    const asked = acme.github.addToken('wes', { kind: 'classic', scopes: ['repo'] });
    const { body } = await request('acme/infra', 1, {}, asked);
    expect(body.state).toBe('requested');
    const path = '/repos/acme/infra/pulls/1';
    for (const [fields, back] of [[{ from_list: 'yes' }, '/owners/acme/exemptions']] as const) {
      const approved = await ada.send(`${path}/exemptions/${body.id}/approve`, fields);
      await acme.quiet();
      expect(acme.frozen('acme/infra')).toEqual([]);
      const page = await ada.open(approved.location);
      expect(page.text).toContain('The exemption counts within seconds');
      expect(undoOn((await ada.open(`${path}?said=approved&approved=${body.id}`)).text)).not.toBeNull();
      expect((await press(ada, page.text)).location).toBe(back);
      expect(acme.frozen('acme/infra')).toEqual([1]);
      // Pages that update themselves ask for the same address.
      for (const address of [approved.location, `${path}?said=approved&approved=${body.id}`])
        expect((await ada.open(address)).text).not.toContain('The exemption counts within seconds');
    }
    await endAll();
  });
});
