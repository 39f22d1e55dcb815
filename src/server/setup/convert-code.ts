import { createPrivateKey } from 'node:crypto';
import { Octokit } from '@octokit/rest';
import * as z from 'zod';
import type { MadeApp } from './app-credentials-store.ts';
import { classifyGitHubError } from '../../github/github-error.ts';

/** A text that fits on a line of `.env`. */
const word = z.string().regex(/^[^"\p{C}]+$/u);

/** GitHub's answer about a new App, which it gives once. */
const schema = z.object({
  id: z.number().int().positive(),
  slug: word,
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }),
  client_id: word,
  client_secret: word,
  webhook_secret: word,
  pem: z.string().refine(isPrivateKey),
});

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).type === 'private';
  } catch {
    return false;
  }
}

export type Conversion =
  | { kind: 'made'; app: MadeApp }
  /** GitHub does not know the code: it was used before, or is more than an hour old. */
  | { kind: 'unknown-code' }
  /** GitHub did not answer or limits us. The code may work later. */
  | { kind: 'no-answer' }
  /** These fields are not as GitHub documents them. The code is used up. */
  | { kind: 'unusable'; fields: string[] };

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const patience = 12_000;

/** Exchanges the code of GitHub's manifest flow for the credentials of the new App. This works once. */
export async function convertCode(githubApiUrl: string, code: string, now: number): Promise<Conversion> {
  const octokit = new Octokit({ baseUrl: githubApiUrl, log: quiet });
  let answer: unknown;
  try {
    const signal = AbortSignal.timeout(patience);
    answer = (await octokit.rest.apps.createFromManifest({ code, request: { signal } })).data;
  } catch (error) {
    const { kind } = classifyGitHubError(error, now);
    return { kind: kind === 'down' || kind === 'limited' ? 'no-answer' : 'unknown-code' };
  }
  const parsed = schema.safeParse(answer);
  if (!parsed.success)
    return { kind: 'unusable', fields: parsed.error.issues.map(({ path }) => path.join('.') || 'all of it') };
  const { id, slug, name, html_url, client_id, client_secret, webhook_secret, pem } = parsed.data;
  const oauth = { clientId: client_id, clientSecret: client_secret };
  const app = { id, slug, name, htmlUrl: html_url, privateKey: pem, webhookSecret: webhook_secret, oauth };
  return { kind: 'made', app };
}
