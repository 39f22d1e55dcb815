import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// Templates fill in the forms that freeze: those that every owner has, and those that its admins save.

const acme = acmeForAll();
let ada: Visitor;
const freeze = '/owners/acme/freeze';
const newPlan = '/owners/acme/plans/new';

beforeAll(async () => {
  await acme.repository('web', [{}], { roles: { bob: 'admin' } });
  ada = new Visitor(acme);
  await ada.signIn('ada');
});
// One person changes only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

const isChosen = (text: string, value: string) => new RegExp(`value="${value}"\\s+checked`).test(text);
const linksOf = (text: string): string[] =>
  [...text.matchAll(/template=([^"&]+)"/g)].map(([, name]) => decodeURIComponent(name!.replaceAll('+', ' ')));

test('every owner has Incident, Release and Holiday, which keep the chosen repositories', async () => {
  const { text } = await ada.open(`${freeze}?repository=web`);
  expect(linksOf(text)).toEqual(['Incident', 'Release', 'Holiday']);
  expect(text).toContain(`${freeze}?repository=web&amp;template=Incident`);
  const incident = await ada.open(`${freeze}?repository=web&template=Incident`);
  expect(incident.text).toMatch(/<textarea[^>]*name="reason"[^>]*>\s*Incident</);
  for (const value of ['open', 'label=hotfix', 'web']) expect(isChosen(incident.text, value)).toBe(true);
});

test('a plan starts with a template and the day that was chosen', async () => {
  const { text } = await ada.open(`${newPlan}?start=2026-12-24T18:00&template=Holiday`);
  expect(text).toMatch(/<textarea[^>]*name="reason"[^>]*>\s*Holiday</);
  expect(text).toContain('value="2026-12-24T18:00"');
  expect(isChosen(text, 'label=hotfix')).toBe(true);
});

test('a saved template is offered by both forms, and replaces the one with its name', async () => {
  const typed = { reason: 'Database migration', which: 'all', exceptions: 'author=dependabot[bot]' };
  const save = {
    ...typed,
    duration: '1h',
    exception: 'label=security',
    template_name: 'Migration',
    step: 'template',
  };
  const saved = await ada.send(freeze, save);
  expect(saved.location).toBe(`${freeze}?template=Migration`);
  for (const path of [freeze, newPlan]) {
    const { text } = await ada.open(`${path}?template=Migration`);
    expect(linksOf(text)).toContain('Migration');
    expect(text).toMatch(/name="reason"[^>]*>\s*Database migration</);
    expect(text).toMatch(/name="exceptions"[^>]*>\s*author=dependabot\[bot\]</);
    expect(isChosen(text, 'label=security')).toBe(true);
  }
  expect(isChosen((await ada.open(`${freeze}?template=Migration`)).text, '1h')).toBe(true);
  // Saving a template freezes nothing.
  expect(await acme.app.deps.db.freeze.count()).toBe(0);
  await ada.send(newPlan, { reason: 'Outage', include: 'web', template_name: 'Incident', step: 'template' });
  const { text } = await ada.open(`${freeze}?template=Incident`);
  expect(text).toMatch(/name="reason"[^>]*>\s*Outage</);
  expect(linksOf(text).filter((name) => name === 'Incident')).toHaveLength(1);
  const events = await acme.app.deps.db.auditEvent.findMany({ where: { type: 'freeze_templates.update' } });
  expect(events).toHaveLength(2);
});

test('a template needs a name, and an admin of the owner', async () => {
  const nameless = await ada.send(freeze, {
    reason: 'x',
    which: 'all',
    step: 'template',
    template_name: ' ',
  });
  expect(nameless.status).toBe(422);
  expect(nameless.text).toContain('Enter a name for the template.');
  const bob = new Visitor(acme);
  await bob.signIn('bob');
  expect((await bob.open(`${freeze}?repository=web`)).text).not.toContain('template_name');
  const fields = { reason: 'x', which: 'ticked', repository: 'web', step: 'template', template_name: 'Mine' };
  const refused = await bob.send(freeze, fields);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('Only admins of acme can save templates.');
});
