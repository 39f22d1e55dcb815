import { expect, test } from 'vitest';
import { documentAt } from '../docs/documents.ts';

const { version } = JSON.parse(documentAt('package.json')) as { version: string };

test.each<[string, RegExp]>([
  ['packages/cli/package.json', /"version": "([^"]+)"/g],
  ['packages/cli/README.md', /holdfast-cli-(.+?)\.tgz/g],
  ['docs/command-line.md', /holdfast-cli-(.+?)\.tgz/g],
  ['docs/install-container.md', /holdfast:(\d[\d.]+\d)/g],
  ['docs/install-systemd.md', /sudo tar -xzf holdfast-(.+?)\.tar\.gz/g],
  ['actions/push-scopes/push-scopes.mjs', /const version = \(\) => "(.+?)"/g],
  ['actions/gate/gate.mjs', /const version = \(\) => "(.+?)"/g],
  ['compose.yaml', /holdfast:(\d[\d.]+\d)/g],
  ['deploy/helm/Chart.yaml', /^(?:appV|v)ersion: (.+)$/gm],
])('%s shows the version of package.json', (path, shown) => {
  const versions = [...documentAt(path).matchAll(shown)].map((match) => match[1]);
  expect(versions.length).toBeGreaterThan(0);
  expect([...new Set(versions)]).toEqual([version]);
});

test('the newest section of the changelog is that of the version', () => {
  const sections = [...documentAt('CHANGELOG.md').matchAll(/^## \[(\d.+?)\] - \d{4}-\d\d-\d\d$/gm)];
  expect(sections[0]?.[1]).toBe(version);
});
