import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runCommand } from '../../src/cli/run-command.ts';
import { thisMachine } from '../../src/cli/world.ts';
import { PassThrough } from 'node:stream';

async function say(words: string[]): Promise<string> {
  const out = new PassThrough();
  expect(await runCommand(words, { ...thisMachine(), out })).toBe(0);
  return String(out.read() ?? '');
}
const next = async (...words: string[]) =>
  (await say(['complete', '--', ...words])).split('\n').flatMap((row) => row.split('\t')[0] || []);

test.each([
  [['fre'], ['freeze']],
  [
    ['plans', ''],
    ['list', 'show', 'create', 'update', 'delete', 'progress', 'help'],
  ],
  [['freeze', '--w'], ['--wait']],
  [['freeze', '-m', '--w'], []],
  [['freeze', '--zone', 'europe/par'], ['Europe/Paris']],
  [['list', '--jso'], ['--json']],
  [
    ['keys', 'create', 'acme', '--scope', ''],
    ['admin', 'ci'],
  ],
  [['products', 'set', 'acme/web', 'merge_queue', 'merge_p'], ['merge_protections']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['run', '--freeze', 'acme/web', '--', 'li'], []],
])('after %j come %j', async (words, candidates) => expect(await next(...words)).toEqual(candidates));

test('what is for programs alone is not offered', async () => {
  expect(await next('comp')).toEqual(['completion']);
});

test('bash completes with what it prints', async () => {
  const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
  const script = `
    holdfast() { '${process.execPath}' '${bin}' "$@"; }
    ${await say(['completion', 'bash'])}
    COMP_WORDS=(holdfast plans cr); COMP_CWORD=2
    _holdfast; echo "\${COMPREPLY[@]}"
    COMP_WORDS=(holdfast list ''); COMP_CWORD=2
    _holdfast; echo "\${COMPREPLY[@]}"; complete -p holdfast`;
  const said = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(said).toBe('create\n\ncomplete -o default -F _holdfast holdfast\n');
});
