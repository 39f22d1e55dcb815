import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// What a button of a plan's page is about, and what its colour says.

const acme = acmeForAll();
const ada = new Visitor(acme);
beforeAll(async () => {
  for (const name of ['api', 'web']) await acme.repository(name, [{}]);
  await ada.signIn('ada');
});

const plan = async (more: object) => {
  const body = { name: 'Rest', reason: 'Rest', timezone: 'UTC', repositories: { include: ['api', 'web'] } };
  const made = await acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: { ...body, ...more },
  });
  expect(made.status, made.text).toBe(201);
  await acme.quiet();
  return `/owners/acme/plans/${made.body.id}`;
};
const plain = (html: string) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
/** The buttons below each heading, and the classes of each: the last word says its colour. */
function buttonsOf(html: string): Record<string, Record<string, string>> {
  const sections = html.split(/(?=<h2)/).filter((part) => part.startsWith('<h2'));
  return Object.fromEntries(
    sections.flatMap((part) => {
      const buttons = [...part.matchAll(/<(summary|button|a)\b([^>]*)>([^<]*(?:<[^>]+>)?[^<]*)<\/\1>/g)]
        .filter(([, tag, attributes]) => tag === 'button' || /class="button/.test(attributes!))
        .map(([, , attributes, text]) => [
          plain(text!),
          /class="([^"]*)"/.exec(attributes!)?.[1] ?? 'confirms',
        ]);
      return buttons.length > 0
        ? [[plain(/<h2[^>]*>(.*?)<\/h2>/s.exec(part)![1]!), Object.fromEntries(buttons)]]
        : [];
    }),
  );
}

test('the occurrence, the ongoing freezes and the plan of a plan that repeats are apart, and only its own group deletes it', async () => {
  const path = await plan({
    start: '2026-03-01T00:00:00',
    end: '2026-03-01T23:00:00',
    recurrence: { rule: 'FREQ=DAILY' },
  });
  const { text } = await ada.open(path);
  const order = ['This occurrence', 'Ongoing freezes', 'The plan'].map((name) =>
    text.indexOf(`<h2>${name}</h2>`),
  );
  expect(order.every((at) => at > 0)).toBe(true);
  expect(order).toEqual(order.toSorted((one, other) => one - other));
  const groups = buttonsOf(text);
  expect(groups['This occurrence']).toEqual({
    ...{ '+1 hour': 'quiet', '+1 day': 'quiet', 'Set end…': 'button quiet', 'Set end': 'confirms' },
    ...{ 'End now…': 'button danger', 'End this occurrence': 'danger' },
  });
  expect(groups['The plan']).toEqual({
    ...{
      Edit: 'button quiet',
      Duplicate: 'button quiet',
      'Delete plan…': 'button danger',
      'Delete plan': 'danger',
    },
  });
  const occurrence = text.slice(order[0], order[2]);
  expect(occurrence).not.toMatch(/\/delete"|Delete/);
  expect(text.slice(order[2])).toContain('the entire plan. You cannot undo this.');
});

test('one that does not repeat ends with its only occurrence, which Undo restores', async () => {
  const path = await plan({ start: null, end: null });
  const groups = buttonsOf((await ada.open(path)).text);
  expect(groups['This occurrence']).toMatchObject({ 'End now…': 'button danger', 'End now': 'danger' });
  expect(groups['The plan']).toEqual({ Edit: 'button quiet', Duplicate: 'button quiet' });
});

test('green approves and confirms: freezing has a colour of its own, and what ends or denies a red outline', async () => {
  const overview = await ada.open('/repos/acme');
  expect(overview.text).toMatch(/<button type="submit" class="freeze">Freeze now</);
  expect(overview.text).toMatch(/<button[^>]*class="danger"[^>]*>\s*Unfreeze/);
  const { text } = await ada.open('/owners/acme/unfreeze');
  expect(text).toMatch(/<button type="submit" class="danger" data-ends>/);
  const css = await (
    await fetch(`${acme.app.url}${/href="(\/assets\/style\.css[^"]*)"/.exec(text)![1]!}`)
  ).text();
  const colourOf = (selector: string) =>
    new RegExp(`\\n${selector.replaceAll('.', '\\.')} \\{[^}]*background: var\\(--([\\w-]+)\\)`).exec(
      css,
    )?.[1];
  expect(colourOf('button,\n.button')).toBe('button-primary-bgColor-rest');
  expect(colourOf('button.freeze,\n.button.freeze')).toBe('bgColor-severe-emphasis');
  expect(colourOf('.button,\nbutton.next')).toBe('accent');
});
