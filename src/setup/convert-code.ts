import { createPrivateKey } from 'node:crypto';
import { Octokit } from '@octokit/rest';
import * as z from 'zod';
import type { MadeApp } from '../app-credentials/app-credentials-store.ts';
import { classifyGitHubError } from '../github/github-error.ts';

/** What GitHub tells of a new App, once. */
const schema = z.object({
  id: z.number().int().positive(),
  slug: z.string(),
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  webhook_secret: z.string().min(1),
  pem: z.string().refine((pem) => {
    createPrivateKey(pem);
    return true;
  }),
});

export type Conversion =
  | { kind: 'made'; app: MadeApp }
  /** GitHub does not know the code: it was used before, or is over an hour old. */
  | { kind: 'unknown-code' }
  /** GitHub did not answer, or not now: the code may work later. */
  | { kind: 'no-answer' };

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const patience = 12_000;

/**
 * Exchanges the code of GitHub's manifest flow for the credentials of the App that was made. GitHub does so once.
 * @throws where the answer is not what GitHub documents; the message holds nothing of it.
 */
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
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
    throw new Error(`GitHub's answer about the new App cannot be used: ${fields}`);
  }
  const { id, slug, name, html_url, client_id, client_secret, webhook_secret, pem } = parsed.data;
  const oauth = { clientId: client_id, clientSecret: client_secret };
  const app = { id, slug, name, htmlUrl: html_url, privateKey: pem, webhookSecret: webhook_secret, oauth };
  return { kind: 'made', app };
}
