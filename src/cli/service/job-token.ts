import { misused, notKnown } from '../stop.ts';
import type { World } from '../world.ts';
import { readJson } from './answers.ts';

const patience = 30_000;
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
    const { token, why, isPassing } = await ask(url, credential);
    if (token) return token;
    if (!isPassing) throw misused(`GitHub gives this job no token (${why}). ${remedy}`);
    if (tries >= mostTries) throw notKnown(`GitHub gives this job no token now (${why}). Run it again.`);
    await delay(1000 * tries);
  }
}

const remedy = 'Give the job permissions: id-token: write, or set HOLDFAST_TOKEN to a key.';

type Answer = { token: string | null; why: string; isPassing: boolean };

async function ask(url: URL, credential: string): Promise<Answer> {
  const headers = { Authorization: `Bearer ${credential}`, Accept: 'application/json' };
  try {
    const signal = AbortSignal.timeout(patience);
    const response = await fetch(url, { headers, redirect: 'error', signal });
    const { value } = (readJson(await response.text()) ?? {}) as { value?: unknown };
    const token = response.ok && typeof value === 'string' && value !== '' ? value : null;
    const isPassing = response.status === 429 || response.status >= 500;
    return { token, why: `it answers ${response.status}`, isPassing };
  } catch (error) {
    return { token: null, why: (error as Error).message, isPassing: true };
  }
}
