import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { exampleNotices } from '../notices/example-notices.ts';
import { noticeTypes } from '../../src/notices/notice.ts';
import { standardBody } from '../../src/notices/post.ts';
import { repositoryRoot } from '../support/clean-copy.ts';
import { freePort } from '../support/free-port.ts';
import { between, documentAt, rowsOf } from './documents.ts';

const page = documentAt('docs/notices.md');

test('every type is explained, and no other', () => {
  const table = rowsOf(between(page, '<!-- types -->', '<!-- /types -->'));
  expect(table.map(([type]) => type)).toEqual(noticeTypes.map((type) => `\`${type}\``));
});

test('the receiver of the page takes what is signed, once, and nothing else', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const port = await freePort();
  const [code] = /```js\n(.*?)```/s.exec(between(page, '<!-- receiver -->', '<!-- /receiver -->'))!.slice(1);
  const receiver = spawn(process.execPath, ['--input-type=module', '--eval', code!], {
    cwd: repositoryRoot,
    env: { PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    receiver.kill();
    await once(receiver, 'exit');
  });
  let said = '';
  receiver.stdout.on('data', (text: Buffer) => (said += String(text)));
  const send = async (body: string, signature: string, at = new Date()) => {
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signature,
    };
    return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).status;
  };
  await expect.poll(() => send('{}', 'v1,none').catch(() => null)).toBe(401);
  const body = standardBody(exampleNotices['freeze.started'], false);
  const now = new Date();
  const signature = new Webhook(secret).sign('evt_1', now, body);
  // While a secret is exchanged, there are two signatures.
  expect(await send(body, `v1,${'A'.repeat(43)}= ${signature}`, now)).toBe(204);
  expect(await send(body, signature, now)).toBe(204);
  expect(await send(`${body} `, signature, now)).toBe(401);
  const old = new Date(now.getTime() - 600_000);
  expect(await send(body, new Webhook(secret).sign('evt_1', old, body), old)).toBe(401);
  await expect.poll(() => said).toBe('freeze.started acme/web\n');
});
