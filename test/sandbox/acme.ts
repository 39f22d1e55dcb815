import { createSign } from 'node:crypto';
import { forAll } from '../support/for-all.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/github.ts';

/** A small world that the sandbox's own tests share. */
export async function acme(options: SandboxOptions = {}) {
  const github = await startSandbox(options);
  const ada = github.addUser('ada');
  const bob = github.addUser('bob');
  const eve = github.addUser('eve');
  github.addOrganization('acme', { admins: ['ada'], members: ['bob'] });
  github.addRepository('acme/web', { roles: { bob: 'write' }, protect: { main: ['holdfast/freeze'] } });
  github.addRepository('acme/vault', { private: true });
  const { id: installationId } = github.install('acme');
  return { github, ada, bob, eve, installationId };
}

/** That world for all tests of a file. */
export const acmeForAll = () =>
  forAll(async () => {
    const world = await acme();
    return { ...world, close: () => world.github.close() };
  });

/** A JWT of the App; claims given replace the good ones. */
export function appJwt(
  { app, now: clock }: Sandbox,
  claims: object = {},
  privateKey = app.privateKey,
): string {
  const now = Math.floor(clock().getTime() / 1000);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iat: now - 30, exp: now + 540, iss: app.id, ...claims })}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
}

export interface Answer {
  status: number;
  headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  body: any;
}

/** One request as it is, redirects not followed. */
export async function call(
  github: Sandbox,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(github.url + path, {
    method,
    redirect: 'manual',
    headers: token ? { authorization: `Bearer ${token}` } : {},
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null };
}

/** @param jwt of another App than the first. */
export async function installationToken(
  github: Sandbox,
  id: number,
  body: object = {},
  jwt = appJwt(github),
): Promise<string> {
  const answer = await call(github, jwt, 'POST', `/app/installations/${id}/access_tokens`, body);
  return answer.body.token;
}

/** Runs a GraphQL query. */
export async function ask(github: Sandbox, token: string, query: string, variables: object = {}) {
  return (await call(github, token, 'POST', '/graphql', { query, variables })).body;
}
