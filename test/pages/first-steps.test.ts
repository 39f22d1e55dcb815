import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// The steps after the installation. Each step is done if it is true now.

const acme = acmeForAll();
let ada: Visitor;
beforeAll(async () => {
  ada = new Visitor(acme);
  await ada.signIn('ada');
});

const path = '/owners/acme/first-steps';
const steps = async (query = ''): Promise<string[]> => {
  const { status, text } = await ada.open(path + query);
  expect(status).toBe(200);
  return [...text.matchAll(/<li class="card">([^]*?)<\/h2>/g)].map(([, title]) =>
    title!
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
};
/** An answer of GitHub is used again for some seconds. */
const later = () => acme.advanceTo(new Date(acme.clock.now() + 61_000));

test('each step turns to done when it is true', async () => {
  await acme.app.deps.db.applicationKey.updateMany({ data: { revokedAt: new Date(acme.clock.now()) } });
  expect(await steps()).toEqual([
    'To do Holdfast sees your repositories',
    'To do GitHub requires the check holdfast/freeze',
    'To do Scripts have an application key',
    'To do You have created a freeze',
    'Optional People can use commands in comments',
    'Optional Freezes can block deployments',
  ]);
  const bare = await acme.repository('bare', [{}], { protect: {} });
  await later();
  expect((await steps()).map((each) => each.split(' Holdfast')[0]!.slice(0, 5))).toEqual([
    'Done',
    'To do',
    'To do',
    'To do',
    'Optio',
    'Optio',
  ]);
  const { text } = await ada.open(path);
  expect(text).toContain('It sees 1 repository.');
  expect(text).toMatch(/<summary>\s*bare\s*<span class="badge leaking">Freezes are not enforced<\/span>/);
  expect(text).toContain('curl -X POST -H &quot;Authorization: Bearer $GITHUB_TOKEN&quot;');
  acme.github.protect(bare, 'main', ['holdfast/freeze']);
  await later();
  expect((await steps())[1]).toBe('Done GitHub requires the check holdfast/freeze');
  await acme.app.deps.db.applicationKey.updateMany({ data: { revokedAt: null } });
  expect((await steps())[2]).toBe('Done Scripts have an application key');
  const freeze = await acme.freeze(bare);
  await acme.remove(bare, freeze.id);
  expect((await steps())[3]).toBe('Done You have created a freeze');
});

test('of many repositories, ten are checked on a page', async () => {
  for (let count = 10; count < 21; count++) await acme.repository(`many-${count}`);
  await later();
  const seen = (text: string) =>
    [...text.matchAll(/href="\/repos\/acme\/([\w-]+)"/g)].map(([, name]) => name);
  const first = (await ada.open(path)).text;
  expect(seen(first)).toEqual(['bare', ...Array.from({ length: 9 }, (_, index) => `many-${10 + index}`)]);
  expect(first).toContain('It sees 12 repositories.');
  expect(first).toContain('Check the others too.');
  expect((await steps())[1]).toBe('To do GitHub requires the check holdfast/freeze');
  expect(first).toContain(`href="${path}?from=10"`);
  const second = (await ada.open(`${path}?from=10`)).text;
  expect(seen(second)).toEqual(['many-19', 'many-20']);
  for (const from of ['-1', 'x', '1e9', '99999999999999999999'])
    expect((await ada.open(`${path}?from=${from}`)).status).toBe(200);
});

test('it is for admins of the owner', async () => {
  expect((await new Visitor(acme).open(path)).location).toContain('/auth/sign-in?to=');
  const bob = new Visitor(acme);
  await bob.signIn('bob');
  const [his, absent] = [await bob.open(path), await bob.open('/owners/nobody/first-steps')];
  expect([his.status, absent.status]).toEqual([404, 404]);
  expect(his.text).toBe(absent.text);
});
