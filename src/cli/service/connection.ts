// Which service the commands call, and with which credential.
import { join } from 'node:path';
import { readJsonFile, settingsFolder, writeJsonFile } from '../memory.ts';
import { misused, unknownThing } from '../stop.ts';
import type { World } from '../world.ts';
import { servicePatience, parseJson } from './service.ts';

/** The GitHub host, as for `gh`. */
export const hostOfService = ({ env }: Pick<World, 'env'>): string => env.GH_HOST?.trim() || 'github.com';

/** The address that somebody named: by the option, by `HOLDFAST_URL`, or by `holdfast login`. */
export const namedAddress = (world: World, option: string | undefined): string | null =>
  option ?? (world.env.HOLDFAST_URL?.trim() || savedAddress(world));

/** The address of the service. @throws Stop if nobody named one, or if it is not an address. */
export function addressOfService(world: World, option: string | undefined): string {
  const named = namedAddress(world, option);
  if (!named) {
    throw misused(
      'Set the address of Holdfast with holdfast login https://holdfast.example.com, or with HOLDFAST_URL.',
    );
  }
  return readAddress(named);
}

/** An address as people write it, without `/v1` and slashes at its end. @throws Stop if it is not an address. */
export function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // Does not repeat a text that may be a secret.
  if (url && (url.username || url.password || url.search || url.hash))
    throw misused(
      'The address of a Holdfast has no user, password, query or fragment. Write one such as https://holdfast.example.com.',
    );
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw misused(
      `"${text}" is not the address of a Holdfast. Write one such as https://holdfast.example.com.`,
    );
  }
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** Whether others on the way can read what is sent to this address: http, to another machine. */
export function isReadableOnTheWay(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The file that `holdfast login` writes: the address of Holdfast for each GitHub. It holds no credential. */
export const addressesFile = (world: World): string => join(settingsFolder(world), 'config.json');

/** The address of Holdfast for the GitHub of this call; null if none is saved. */
function savedAddress(world: World): string | null {
  const url = hostsIn(readJsonFile(addressesFile(world)))[hostOfService(world)]?.url;
  return typeof url === 'string' ? url : null;
}

/** Saves an address for a GitHub. The others stay. */
export function saveAddress(world: World, host: string, url: string): void {
  const saved = readJsonFile(addressesFile(world)) ?? {};
  writeJsonFile(addressesFile(world), { ...saved, hosts: { ...hostsIn(saved), [host]: { url } } });
}

const hostsIn = (saved: Record<string, unknown> | null) =>
  (saved?.['hosts'] ?? {}) as Record<string, { url?: unknown } | undefined>;

/**
 * The credential for the service: from the option, from `HOLDFAST_TOKEN`, from `gh`, or from this job of GitHub
 * Actions.
 * @param url the address of the service.
 * @param isInsecure whether a token of `gh` may go where others on the way can read it.
 * @throws Stop if there is none, if it may not go there, or if it has characters that no credential has.
 */
export async function credentialOf(
  world: World,
  url: string,
  option: string | undefined,
  isInsecure = false,
): Promise<string> {
  const given = option ?? world.env.HOLDFAST_TOKEN?.trim();
  const ofGh = given ? null : await tokenOfGh(world);
  if (ofGh && !isInsecure && isReadableOnTheWay(url)) {
    throw misused(
      `Others on the way to ${url} could read your token of gh, and it can do everything that you can do at GitHub. Use https, or send it anyway with --insecure.`,
    );
  }
  const token = given || ofGh || (await tokenOfJob(world, url));
  if (!token) {
    throw misused(
      'There is no credential. Sign in with `gh auth login`, or set HOLDFAST_TOKEN to an application key or a GitHub token.',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw misused(
      'The credential contains characters that no credential has, such as a space or a quote. Copy it again.',
    );
  }
  return token;
}

/** The output of `gh auth token`; null if there is no `gh`, or if nobody is signed in. Runs no shell. */
async function tokenOfGh(world: World): Promise<string | null> {
  const { execFile } = await import('node:child_process');
  const args = ['auth', 'token', '--hostname', hostOfService(world)];
  return new Promise((resolve) => {
    const options = { env: world.env as NodeJS.ProcessEnv, timeout: 10_000, windowsHide: true };
    execFile('gh', args, options, (error, output) => resolve(error ? null : output.trim() || null));
  });
}

const mostTries = 3;

/**
 * Asks GitHub for an OIDC token of this job of GitHub Actions, which is valid for minutes. See
 * https://docs.github.com/en/actions/reference/security/oidc.
 * @param audience of the token: the PUBLIC_URL of Holdfast, without a slash at the end.
 * @returns null outside of a job, and in one without `permissions: id-token: write`.
 * @throws Stop if GitHub does not answer with one.
 */
export async function tokenOfJob({ env, delay }: World, audience: string): Promise<string | null> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: credential } = env;
  if (!address || !credential) return null;
  const url = new URL(address);
  url.searchParams.set('audience', audience);
  for (let tries = 1; ; tries++) {
    const { token, why, isPassing } = await askForToken(url, credential);
    if (token) return token;
    if (!isPassing) throw misused(`GitHub gives this job no token (${why}). ${remedy}`);
    if (tries >= mostTries) throw unknownThing(`GitHub gives this job no token now (${why}). Run it again.`);
    await delay(1000 * tries);
  }
}

const remedy = 'Give the job permissions: id-token: write, or set HOLDFAST_TOKEN to a key.';

/** Asks once. `isPassing`: whether another try may succeed. */
async function askForToken(url: URL, credential: string) {
  const headers = { Authorization: `Bearer ${credential}`, Accept: 'application/json' };
  try {
    const signal = AbortSignal.timeout(servicePatience);
    const response = await fetch(url, { headers, redirect: 'error', signal });
    const { value } = (parseJson(await response.text()) ?? {}) as { value?: unknown };
    const token = response.ok && typeof value === 'string' && value !== '' ? value : null;
    const isPassing = response.status === 429 || response.status >= 500;
    return { token, why: `it answers ${response.status}`, isPassing };
  } catch (error) {
    return { token: null, why: (error as Error).message, isPassing: true };
  }
}
