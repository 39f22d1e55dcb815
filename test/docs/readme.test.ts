import { expect, test } from 'vitest';
import { variables } from '../../src/config.ts';
import { handledEvents } from '../../src/webhooks/handled-events.ts';
import { between, documentAt, rowsOf } from './documents.ts';

const readme = documentAt('README.md');
const install = documentAt('docs/install.md');
const appYml = documentAt('app.yml');

/** The table of docs/install.md whose head begins with this cell. */
const tableOf = (head: string): string[][] => {
  const at = install.search(new RegExp(`^\\| ${head} +\\|`, 'm'));
  return rowsOf(install.slice(at).split('\n\n')[0]!);
};
const coded = (cell: string | undefined): string => cell!.replaceAll('`', '');

test('the environment table is `variables` of src/config.ts', () => {
  const table = rowsOf(between(readme, '<!-- environment -->', '<!-- /environment -->'));
  const documented = Object.fromEntries(table.map(([name, meaning]) => [coded(name), meaning]));
  expect(documented).toEqual(variables);
});

test('every permission of app.yml is explained, and no other', () => {
  const asked = [
    ...between(appYml, 'default_permissions:\n', 'default_events:').matchAll(/^ +(\w+: \w+)/gm),
  ].map((match) => match[1]);
  const explained = tableOf('permission');
  expect(explained.map(([name]) => coded(name))).toEqual(asked);
  for (const [, why] of explained) expect(why!.length).toBeGreaterThan(20);
});

const subscribed = [...`${appYml}\n`.split('default_events:\n')[1]!.matchAll(/^ +- (\w+)/gm)].map(
  (m) => m[1]!,
);

test('every event of app.yml is explained, and no other', () => {
  expect(tableOf('event').map(([name]) => coded(name))).toEqual(subscribed);
});

test('app.yml subscribes to the events that are handled, and to no others', () => {
  // GitHub sends these to every App, and refuses a manifest that names them.
  const automatic = ['installation', 'installation_repositories', 'github_app_authorization'];
  const handled = [...new Set(handledEvents.map((event) => event.split('.')[0]!))];
  expect(subscribed.toSorted()).toEqual(handled.filter((name) => !automatic.includes(name)).toSorted());
});
