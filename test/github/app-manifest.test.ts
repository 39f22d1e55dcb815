import { expect, test } from 'vitest';
import { appEvents, appPermissions, isGranted } from '../../src/github/app-manifest.ts';
import { documentAt } from '../docs/documents.ts';

test('the tables are those of app.yml', () => {
  const [, permissions, events] = documentAt('app.yml').split(/default_(?:permissions|events):\n/);
  const granted = [...permissions!.matchAll(/^ +(\w+): (\w+)/gm)].map(([, name, level]) => [name, level]);
  expect(granted.length).toBeGreaterThan(5);
  expect(Object.entries(appPermissions)).toEqual(granted);
  expect(appEvents).toEqual([...events!.matchAll(/^ +- (\w+)/gm)].map(([, name]) => name));
});

test.each([
  [undefined, 'read', false],
  ['read', 'read', true],
  ['read', 'write', false],
  ['write', 'read', true],
  ['admin', 'write', true],
] as const)('%s is enough for %s: %s', (granted, wanted, enough) =>
  expect(isGranted(granted, wanted)).toBe(enough),
);
