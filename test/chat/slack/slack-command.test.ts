import { describe, expect, test } from 'vitest';
import { readSlackCommand } from '../../../src/chat/commands/command.ts';

const repositories = (owner: string | null, ...globs: string[]) => ({ kind: 'repositories', owner, globs });
const pullRequest = { kind: 'pull-request', owner: 'acme', repository: 'web', number: 12 };

describe('a command', () => {
  test.each([
    ['', 'help', null, ''],
    ['help', 'help', null, ''],
    ['status', 'status', null, ''],
    ['STATUS acme/web', 'status', repositories('acme', 'web'), ''],
    ['freeze acme/web 2h INC-9 is on', 'freeze', repositories('acme', 'web'), '2h INC-9 is on'],
    ['freeze  web,api-*   2h  x', 'freeze', repositories(null, 'web', 'api-*'), '2h x'],
    ['freeze acme/web, api-* 2h x', 'freeze', repositories('acme', 'web', 'api-*'), '2h x'],
    ['freeze all until 18:00 x', 'freeze', { kind: 'all', owner: null }, 'until 18:00 x'],
    ['freeze acme/* 2h x', 'freeze', { kind: 'all', owner: 'acme' }, '2h x'],
    ['freeze web 2h a &lt;b&gt; &amp;amp;', 'freeze', repositories(null, 'web'), '2h a <b> &amp;'],
    [
      'unfreeze plan "Year end" it is over',
      'unfreeze',
      { kind: 'plan', owner: null, named: 'Year end' },
      'it is over',
    ],
    ['extend acme/plan ‘Year end’ 1h', 'extend', { kind: 'plan', owner: 'acme', named: 'Year end' }, '1h'],
    ['exempt acme/web#12 INC-9', 'exempt', pullRequest, 'INC-9'],
    ['approve <https://github.com/acme/web/pull/12/files>', 'approve', pullRequest, ''],
    ['deny https://github.com/acme/web/pull/12 “not now”', 'deny', pullRequest, 'not now'],
    ['subscribe acme web,api-*', 'subscribe', null, 'acme web,api-*'],
    ['notify off', 'notify', null, 'off'],
  ])('%s', (text, verb, target, words) => {
    expect(readSlackCommand(text)).toEqual({ verb, target, words });
  });

  test.each([
    'fly',
    'freeze',
    'freeze web',
    'freeze plan x 2h y',
    'freeze acme/web,globex/api 2h x',
    'freeze acme/web/x 2h y',
    'exempt acme/web x',
    'exempt acme/web#12',
    'status acme/web please',
    'unlink me',
    'notify',
  ])('%s is none', (text) => {
    expect(readSlackCommand(text)).toBeNull();
  });
});
