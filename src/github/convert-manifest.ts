import { createPrivateKey } from 'node:crypto';
import * as z from 'zod';
import type { MadeApp } from './app-credentials-store.ts';
import type { Deps } from '../deps.ts';
import { Client } from './github-app.ts';
import { classifyGitHubError } from './github-error.ts';

/** The account that an App belongs to, as GitHub shows it. */
export type AppOwner = { id: number; login: string; type: string };

/** An App that was made just now. @property owner null if it is no person or organization. */
export type NewApp = MadeApp & { owner: AppOwner | null; permissions: Record<string, string> };

/** Why there are no credentials: a heading and what to do. `isOver`: the code gives none any more. */
export type NoApp = { status: 502 | 503; heading: string; text: string; isOver: boolean };

/** The shape of GitHub's codes. */
export const isCode = (code: string): boolean => /^[\w-]{1,255}$/.test(code);

/** A text that fits on a line of `.env`. */
const word = z.string().regex(/^[^"\p{C}]+$/u);

/** GitHub's answer about a new App, which it gives once. An App without webhooks may have no secret for them. */
const madeApp = (hasWebhooks: boolean) =>
  z
    .object({
      id: z.number().int().positive(),
      slug: word,
      name: z.string(),
      html_url: z.url({ protocol: /^https?$/ }),
      client_id: word,
      client_secret: word,
      webhook_secret: hasWebhooks ? word : word.nullish(),
      pem: z.string().refine(isPrivateKey),
      // Enterprises have no login.
      owner: z.object({ id: z.number(), login: z.string(), type: z.string() }).nullish().catch(null),
      permissions: z.record(z.string(), z.string()).catch({}),
    })
    .transform(({ html_url, client_id, client_secret, webhook_secret, pem, owner, ...given }): NewApp => ({
      ...given,
      htmlUrl: html_url,
      privateKey: pem,
      webhookSecret: webhook_secret ?? '',
      oauth: { clientId: client_id, clientSecret: client_secret },
      owner: owner ?? null,
    }));

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).type === 'private';
  } catch {
    return false;
  }
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const patience = 12_000;

/** Exchanges the code of GitHub's manifest flow for the credentials of the new App, which works once. */
export async function convertManifest(
  { config, clock, log }: Pick<Deps, 'clock' | 'log'> & { config: { githubApiUrl: string } },
  code: string,
  { again, hasWebhooks }: { again: string; hasWebhooks: boolean },
): Promise<NewApp | NoApp> {
  const octokit = new Client({ baseUrl: config.githubApiUrl, log: quiet });
  let answer: unknown;
  try {
    const signal = AbortSignal.timeout(patience);
    answer = (await octokit.rest.apps.createFromManifest({ code, request: { signal } })).data;
  } catch (error) {
    const { kind } = classifyGitHubError(error, clock.now());
    if (kind === 'down' || kind === 'limited') {
      const text = 'Reload this page in a moment. The link works for an hour.';
      return { status: 503, heading: 'GitHub does not answer', text, isOver: false };
    }
    const text = `The code was already used, or it is more than an hour old. ${again}`;
    return { status: 502, heading: 'GitHub does not know this code', text, isOver: true };
  }
  const parsed = madeApp(hasWebhooks).safeParse(answer);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path }) => path.join('.') || 'all of it');
  log.error({ fields }, 'the answer from GitHub about the new App cannot be used');
  const text = `Check that GITHUB_API_URL (${config.githubApiUrl}) is the address of GitHub’s API. GitHub returns credentials only once. ${again}`;
  return { status: 502, heading: 'GitHub’s answer cannot be used', text, isOver: true };
}
