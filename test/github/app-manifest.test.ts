import { expect, test } from 'vitest';
import { prompt, vital } from '../../src/explanations/enforcement/judge-service.ts';
import { queueNeeds } from '../../src/explanations/enforcement/judge-branch.ts';
import {
  appTemplate,
  asksForComments,
  asksForDeployments,
  manifestFor,
  missingEvents,
  missingForComments,
  missingForDeployments,
  missingPermissions,
} from '../../src/github/app-manifest.ts';

const { default_permissions: permissions, default_events: events } = appTemplate;

test('the App asks for what the code needs', () => {
  expect(Object.keys(permissions)).toEqual(expect.arrayContaining([...vital, ...queueNeeds.permissions]));
  expect(events).toEqual(expect.arrayContaining([...prompt, ...queueNeeds.events]));
});

test.each([
  [undefined, ['statuses']],
  ['read', ['statuses']],
  ['write', []],
  ['admin', []],
])('%s is enough for statuses: write, but for %j', (statuses, missing) =>
  expect(missingPermissions({ permissions: { ...permissions, statuses }, events })).toEqual(missing),
);

test('write includes read, and there is no default permission', () => {
  const checks = 'write';
  expect(missingPermissions({ permissions: { ...permissions, checks }, events })).toEqual([]);
  expect(missingPermissions({ permissions: {}, events })).toEqual(Object.keys(permissions));
});

test('events that are not sent are missing', () => {
  expect(missingEvents({ permissions, events })).toEqual([]);
  expect(missingEvents({ permissions, events: events.filter((name) => name !== 'push') })).toEqual(['push']);
});

test('commands in comments are asked for only if somebody wants them', () => {
  const manifest = (takesCommands: boolean) =>
    manifestFor({
      name: 'Holdfast',
      publicUrl: 'https://a.example',
      redirectUrl: 'x',
      takesCommands,
      holdsDeployments: false,
    });
  const plain = manifest(false);
  expect([plain.default_permissions, plain.default_events]).toEqual([permissions, events]);
  expect(asksForComments({ events: plain.default_events })).toBe(false);
  expect(missingForComments({ permissions })).toEqual(['issues: read', 'pull_requests: write']);

  const more = manifest(true);
  expect(more.default_permissions).toEqual({ ...permissions, issues: 'read', pull_requests: 'write' });
  expect(asksForComments({ events: more.default_events })).toBe(true);
  expect(missingForComments({ permissions: more.default_permissions })).toEqual([]);
});

test('deployments are asked for only if somebody wants them', () => {
  const manifest = manifestFor({
    ...{ name: 'Holdfast', publicUrl: 'https://a.example', redirectUrl: 'x' },
    ...{ takesCommands: false, holdsDeployments: true },
  });
  expect(asksForDeployments({ events })).toBe(false);
  expect(missingForDeployments({ permissions })).toEqual(['deployments: write', 'actions: read']);
  expect(manifest.default_permissions).toEqual({ ...permissions, deployments: 'write', actions: 'read' });
  expect(asksForDeployments({ events: manifest.default_events })).toBe(true);
});
