import { expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

test('a pull request elsewhere that a description names shows nothing to people who cannot see it', async () => {
  const { github, quiet, call } = acme;
  const vault = await acme.repository('vault', [{}], { private: true });
  const open = await acme.repository('open', [{}]);
  const bodies = `Depends-On: ${vault}#1\nDepends-On: ${open}#1\nDepends-On: #1`;
  const web = await acme.repository('web', [{}, { body: bodies }]);
  for (const repository of [vault, open]) github.merge(repository, 1);
  await quiet();
  await acme.freeze(web, {
    matching_conditions: [
      { or: [`depends-on=${vault}#1`, `depends-on=${open}#1`, '#depends-on>=1', 'base=main'] },
    ],
  });
  const explained = await call('GET', `/v1/repos/${web}/pulls/2/freezes`, { as: acme.admin });
  expect(explained.status).toBe(200);
  const { reasons } = explained.body.freezes[0];
  const saw = reasons.map((reason: { condition: string; saw: unknown }) => [reason.condition, reason.saw]);
  expect(saw).toEqual([
    [`depends-on=${vault}#1`, [`${open}#1`]],
    [`depends-on=${open}#1`, [`${open}#1`]],
    ['#depends-on>=1', null],
    ['base=main', ['main']],
  ]);
  const page = await (await fetch(`${acme.app.url}/repos/${web}/pulls/2`)).text();
  expect(page).toContain(`${open}#1`);
  // Only in the condition itself, which an admin wrote.
  expect(page.replaceAll(`depends-on=${vault}#1`, '')).not.toContain('vault');
  const body = { reason: 'Why', start: null, timezone: 'UTC', matching_conditions: [`depends-on=${open}#1`] };
  const preview = await call('POST', `/v1/repos/${web}/scheduled_freeze/preview`, { as: acme.admin, body });
  expect(preview.status, preview.text).toBe(200);
  expect(preview.text).toContain(`${open}#1`);
  expect(preview.text).not.toContain('vault');
});
