import { afterAll, beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { type CommandLine, commandLineFor } from '../support/command-line.ts';

// What the command line says where nothing would leave people guessing.

const acme = acmeForAll();
let line: CommandLine;
beforeAll(() => {
  line = commandLineFor(acme, acme.admin);
});
afterAll(() => line.close());

test.each([
  ['bogus', ''],
  ['lgos', '\n(Did you mean logs?)'],
  ['freze', '\n(Did you mean freeze?)'],
  ['deploments', '\n(Did you mean deployments?)'],
])('the unknown command %s proposes only what is near', async (word, advice) => {
  const { code, err } = await line.holdfast([word]);
  expect([code, err.trim()]).toEqual([2, `error: unknown command '${word}'${advice}`]);
});

test('an address of a chat that is empty is named by its variable', async () => {
  const given = ['webhooks', 'create', 'acme', '--kind', 'slack', '--address', '-'];
  const { code, err } = await line.holdfast(given, { input: '\n' });
  expect([code, err]).toEqual([2, expect.stringContaining('set and export CHAT_URL first')]);
});

test('no conditions to test are no success without a word', async () => {
  const { code, out, err } = await line.holdfast(['conditions', 'test']);
  expect([code, out, err]).toEqual([
    0,
    '',
    'There is nothing to test: write JSON lines to standard input.\n',
  ]);
});

test('a gate without a service says at once what it waits for', async () => {
  const env = { HOLDFAST_URL: 'http://127.0.0.1:9' };
  const { code, err } = await line.holdfast(['gate', 'acme/web'], { env });
  const [first, ...others] = err.trim().split('\n');
  expect(first).toMatch(
    /^Holdfast does not answer at http:\/\/127\.0\.0\.1:9 .* Trying for up to 2 minutes\.$/,
  );
  expect([code, others.length]).toEqual([2, 1]);
});
