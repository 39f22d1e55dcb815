// Commands in comments are off until the App asks for what they need, and each owner grants it.
import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { forComments } from './support/comments.ts';
import { Visitor } from './support/visitor.ts';

const acme = acmeForAll();
let web: string;
let ada: Visitor;
beforeAll(async () => {
  web = await acme.repository('web', [{}]);
  ada = new Visitor(acme);
  await ada.signIn('ada');
});

/** The findings of the doctor about comments. */
const finding = async () => {
  const { body } = await acme.call('GET', `/v1/repos/${web}/enforcement`, { as: acme.admin });
  return body.findings.find(({ check }: { check: string }) => check === 'comments');
};
/** The first steps about them. */
const step = async (): Promise<string> => {
  const { text } = await ada.open('/owners/acme/first-steps');
  const words = text
    .replace(/<a href="([^"]*)"[^>]*>/g, '[$1] ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
  return /(?:Done|To do|Optional) People can use commands.*$/.exec(words)![0];
};
const commented = async (): Promise<number> => {
  acme.github.comment(web, 1, { by: 'ada', body: '/holdfast status' });
  await acme.quiet();
  return acme.github.comments(web, 1).filter(({ by }) => by === 'holdfast[bot]').length;
};

test('the doctor and the first steps follow the App from no request to granted', async () => {
  const { github } = acme;
  expect(await finding()).toBeUndefined();
  expect(await step()).toMatch(
    /^Optional .* two more permissions\. Add them in \[https?:\/\/[^\s]*\/settings\/apps\/holdfast\/permissions\] the App’s settings .*Issue comment/,
  );
  expect(await commented()).toBe(0);

  // The owner of the App asks for it; the owner of the repositories has not accepted that yet.
  github.askForMore({ ...forComments[0] }, [...forComments[1]]);
  expect(await commented()).toBe(0);
  expect(github.deliveries.some(({ event }) => event === 'issue_comment')).toBe(false);
  expect(await finding()).toMatchObject({
    state: 'warning',
    message: 'Nobody can use commands in comments: Holdfast lacks issues: read, pull_requests: write.',
    remedy: expect.stringMatching(/^Ask an owner to accept the new permissions at https:/),
  });
  expect(await step()).toMatch(
    /^To do .* Ask an owner to accept issues: read and pull_requests: write in \[/,
  );

  github.acceptPermissions('acme', github.app.permissions);
  await acme.quiet();
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  expect(await finding()).toMatchObject({ state: 'ok', remedy: null });
  expect(await step()).toMatch(/^Done /);
  expect(await commented()).toBe(1);
  expect(acme.logs.filter((line) => JSON.parse(line).level >= 40)).toEqual([]);
});

test('the first steps are shown while GitHub does not say what the App asks for', async () => {
  const fault = acme.github.faults.add({
    match: { method: 'GET', path: /^\/app$/ },
    kind: 'status',
    status: 502,
  });
  expect(await step()).toMatch(/^Optional .* GitHub does not answer\. Reload the page/);
  fault.remove();
});

test('an App that gets events about comments, and cannot answer them, says what to add', async () => {
  const { github } = acme;
  github.acceptPermissions('acme', { ...github.app.permissions, pull_requests: 'read' });
  github.askForMore({ pull_requests: 'read' }, []);
  await acme.quiet();
  expect(await finding()).toMatchObject({
    state: 'warning',
    remedy: expect.stringMatching(
      /^Add them under Permissions at .*\/permissions\. Then ask an owner to accept them/,
    ),
  });
});
