import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runCommand } from '../../src/cli/program.ts';
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
    ['list', 'show', 'create', 'update', 'skip', 'move', 'delete', 'progress', 'help'],
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
    ['bash', 'zsh', 'fish', 'powershell'],
  ],
  [['run', '--freeze', 'acme/web', '--', 'li'], []],
])('after %j come %j', async (words, candidates) => expect(await next(...words)).toEqual(candidates));

test('commands only for programs are not offered', async () => {
  expect(await next('comp')).toEqual(['completion']);
});

const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const isThere = (shell: string) => spawnSync(shell, ['-c', 'exit']).status === 0;

/** A folder with `holdfast` in it, for a shell to find. */
function folderWithHoldfast(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-shell-'));
  writeFileSync(join(folder, 'holdfast'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, {
    mode: 0o755,
  });
  return folder;
}

test('bash completes with what it prints', async () => {
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

test.runIf(isThere('fish'))(
  'fish completes with what it prints, or with files if it prints nothing',
  async () => {
    const folder = folderWithHoldfast();
    writeFileSync(join(folder, 'holdfast.fish'), await say(['completion', 'fish']));
    writeFileSync(join(folder, 'deploy.sh'), '');
    const after = (text: string) =>
      execFileSync('fish', ['--no-config', '-c', 'source holdfast.fish; complete -C $argv[1]', text], {
        encoding: 'utf8',
        cwd: folder,
        env: { ...process.env, HOME: folder, PATH: `${folder}:${process.env['PATH']}` },
      })
        .trimEnd()
        .split('\n');
    expect(after('holdfast plans cr')).toEqual([
      'create\tplan freezes of many repositories, once or repeatedly',
    ]);
    expect(after('holdfast keys create acme --scope ')).toEqual(['admin', 'ci']);
    expect(after('holdfast run --freeze acme/web -- ./dep')).toEqual(['./deploy.sh']);
    rmSync(folder, { recursive: true });
  },
);

test.runIf(isThere('zsh'))('zsh completes with what it prints', async () => {
  const folder = folderWithHoldfast();
  // zsh completes at a terminal alone. What Enter then runs is a function with the completed words.
  const lines = [
    ...["PS1=''", 'autoload -U compinit', 'compinit -u -D', 'source <(holdfast completion zsh)'],
    ...[
      'holdfast() { [[ $1 = complete ]] && { command holdfast "$@"; return }; print -r -- "ran: $*"; print DON""E }',
      'print READ""Y',
    ],
  ];
  const script = `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "$1"
    zpty -r shell said '*READY*'
    zpty -w -n shell "$2"
    zpty -r shell said '*DONE*'
    print -r -- $said
    zpty -d shell`;
  const said = execFileSync('zsh', ['-f', '-c', script, 'zsh', lines.join('; '), 'holdfast plans cr\tx\n'], {
    encoding: 'utf8',
    cwd: folder,
    timeout: 60_000,
    env: {
      ...process.env,
      HOME: folder,
      ZDOTDIR: folder,
      PATH: `${folder}:${process.env['PATH']}`,
      TERM: 'dumb',
    },
  });
  expect(said).toContain('ran: plans create x');
  rmSync(folder, { recursive: true });
});
