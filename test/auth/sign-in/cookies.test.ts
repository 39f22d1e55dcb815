import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { cookieNamed, readCookie, writeCookie } from '../../../src/auth/sign-in/sessions.ts';

const config = {
  publicUrl: 'https://holdfast.example',
  secretKey: 's'.repeat(32),
  secretKeyPrevious: null as string | null,
};

/** Sets the cookie of a sign-in, and reads the returned one. */
function service(keeper: typeof config) {
  const app = new Hono();
  app.get('/write', async (context) => {
    await writeCookie(context, cookieNamed(keeper, 'sign-in-1'), 'value', 60);
    return context.text('');
  });
  app.get('/read', async (context) =>
    context.json([
      await readCookie(context, cookieNamed(keeper, 'sign-in-1')),
      await readCookie(context, cookieNamed(keeper, 'session')),
    ]),
  );
  return {
    write: async () => (await app.request('/write')).headers.getSetCookie()[0]!,
    read: async (Cookie: string) => (await app.request('/read', { headers: { Cookie } })).json(),
  };
}

const pairOf = (line: string) => line.split(';')[0]!;

test('a value comes back only under its own name', async () => {
  const { write, read } = service(config);
  const pair = pairOf(await write());
  expect(await read(pair)).toEqual(['value', null]);
  expect(await read(pair.replace('sign-in-1', 'session'))).toEqual([null, null]);
  expect(await read(pair.replace('value', 'other'))).toEqual([null, null]);
});

test('a replica with the same key reads it', async () => {
  expect(await service(config).read(pairOf(await service(config).write()))).toEqual(['value', null]);
});

test('another secret key reads nothing', async () => {
  const pair = pairOf(await service(config).write());
  expect(await service({ ...config, secretKey: 't'.repeat(32) }).read(pair)).toEqual([null, null]);
});

test('the previous key reads what it signed, and signs nothing new', async () => {
  const old = config;
  const both = { ...config, secretKey: 't'.repeat(32), secretKeyPrevious: old.secretKey };
  const changed = { ...both, secretKeyPrevious: null };
  expect(await service(both).read(pairOf(await service(old).write()))).toEqual(['value', null]);
  const fresh = pairOf(await service(both).write());
  expect(await service(changed).read(fresh)).toEqual(['value', null]);
  expect(await service(old).read(fresh)).toEqual([null, null]);
});

test('over HTTP, as on a laptop, the cookie is not Secure and has no host prefix', async () => {
  const line = await service({ ...config, publicUrl: 'http://localhost:3000' }).write();
  expect(line).toMatch(/^holdfast-sign-in-1=/);
  expect(line).not.toContain('Secure');
  expect(line).toContain('HttpOnly');
  expect(await service(config).write()).toMatch(/^__Host-.*; Secure/);
});
