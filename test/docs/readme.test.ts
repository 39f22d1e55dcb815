import { expect, test } from 'vitest';
import { variables } from '../../src/config.ts';
import { verbs } from '../../src/chat/commands/command.ts';
import { forComments, forDeployments, forRules } from '../../src/github/app-manifest.ts';
import { actionsOf } from '../../src/webhooks/handled-events.ts';
import { between, documentAt, rowsOf } from './documents.ts';

const settings = documentAt('docs/settings.md');
const install = documentAt('docs/install.md');
const appYml = documentAt('app.yml');

/** The table of a page, of docs/install.md if of no other, whose head begins with this cell. */
const tableOf = (head: string, page = install): string[][] => {
  const at = page.search(new RegExp(`^\\| ${head} +\\|`, 'm'));
  return rowsOf(page.slice(at).split('\n\n')[0]!);
};
const coded = (cell: string | undefined): string => cell!.replaceAll('`', '');

test('the environment table is `variables` of src/config.ts', () => {
  const table = rowsOf(between(settings, '<!-- environment -->', '<!-- /environment -->'));
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

test.each([
  ['docs/comments.md', forComments],
  ['docs/deployments.md', forDeployments],
  ['docs/enforcement.md', forRules],
])('the extra permissions and events of %s are explained there, and no others', (path, extra) => {
  const page = documentAt(path);
  const names = (head: string) => tableOf(head, page).map(([name]) => coded(name));
  const permissions = Object.entries(extra.default_permissions).map(([name, level]) => `${name}: ${level}`);
  expect(names('permission')).toEqual(permissions);
  expect(names('event')).toEqual(extra.default_events);
});

test('every command in a comment is explained, and no other', () => {
  const named = tableOf('command', documentAt('docs/comments.md')).map(([cell]) => coded(cell).split(' ')[1]);
  expect(named).toEqual(verbs);
});

test('app.yml subscribes to the events that are handled, but for those of extras, and to no others', () => {
  // GitHub sends these to every App, and refuses a manifest that names them.
  const automatic = ['installation', 'installation_repositories', 'github_app_authorization'];
  const handled = Object.keys(actionsOf);
  const withExtras = [
    ...subscribed,
    ...forComments.default_events,
    ...forDeployments.default_events,
    ...forRules.default_events,
  ];
  expect(withExtras.toSorted()).toEqual(handled.filter((name) => !automatic.includes(name)).toSorted());
});
