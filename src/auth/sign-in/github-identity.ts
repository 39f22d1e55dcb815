import * as z from 'zod';
import type { Config } from '../../config.ts';
import { askGitHub } from '../../github/ask-github.ts';
import { giveTokenBack } from '../github-token.ts';
import { fetchThroughProxy } from '../../github/through-proxy.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { type SignInAttempt, challengeOf } from './attempt.ts';
import type { SignedIn } from './sessions.ts';
import type { AuthDeps } from '../auth-deps.ts';

type SignInSettings = {
  clientId: string;
  clientSecret: string;
  secretKey: string;
  callbackUrl: string;
};

export const callbackPath = '/auth/callback';

/** @returns null if the operator has not set up signing in. */
export function signInSettings({ app, secretKey, publicUrl }: Config): SignInSettings | null {
  if (!app.oauth || !secretKey) return null;
  return { ...app.oauth, secretKey, callbackUrl: publicUrl + callbackPath };
}

/** The variables that are still missing for it, as a list in words. */
export function missingForSignIn({ app, secretKey }: Config): string {
  const missing = [
    ...(app.oauth ? [] : ['CLIENT_ID', 'CLIENT_SECRET']),
    ...(secretKey ? [] : ['SECRET_KEY']),
  ];
  return missing.length < 2 ? missing.join('') : `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`;
}

// GitHub's web application flow (docs: "Generating a user access token for a GitHub App").

type Asking = Pick<AuthDeps, 'config' | 'github' | 'clock' | 'log' | 'db'>;

/** The page at GitHub where a person allows us to see who they are. */
export function authorizeUrl({ config }: Asking, settings: SignInSettings, attempt: SignInAttempt): string {
  const url = new URL(`${webUrlOf(config.githubApiUrl)}/login/oauth/authorize`);
  url.search = new URLSearchParams({
    client_id: settings.clientId,
    redirect_uri: settings.callbackUrl,
    state: attempt.state,
    code_challenge: challengeOf(attempt),
    code_challenge_method: 'S256',
  }).toString();
  return url.href;
}

/** One page is enough: nobody looks at more owners at once. */
const mostInstallations = 100;

/** GitHub's word for why it refuses: `bad_verification_code`, `incorrect_client_credentials` … */
export type NoToken = { refusal: string };

/**
 * The person behind a code, and the installations that they can see. Only these are kept: the token from the code is
 * revoked.
 * @throws Refusal unavailable while GitHub cannot answer.
 */
export async function identify(
  deps: Asking,
  settings: SignInSettings,
  attempt: SignInAttempt,
  code: string,
): Promise<SignedIn | NoToken> {
  return askGitHub(deps, 'caller', 'who you are', async () => {
    const answer = await exchange(deps, settings, attempt, code);
    if ('error' in answer) return { refusal: answer.error };
    try {
      const { rest } = deps.github.asPerson(answer.access_token);
      const { data } = await rest.users.getAuthenticated();
      const seen = await rest.apps.listInstallationsForAuthenticatedUser({ per_page: mostInstallations });
      const installationIds = seen.data.installations.map(({ id }) => BigInt(id));
      return { id: data.id, login: data.login, installationIds };
    } finally {
      // If it fails, signing in goes on: the token ends by itself after 8 hours, and only this call knew it.
      await giveTokenBack(deps, settings, answer.access_token).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'could not revoke a sign-in token on GitHub'),
      );
    }
  });
}

const answerShape = z.union([z.object({ error: z.string() }), z.object({ access_token: z.string() })]);

/** GitHub answers most refusals with 200 and an `error`. */
async function exchange({ config }: Asking, settings: SignInSettings, attempt: SignInAttempt, code: string) {
  const response = await fetchThroughProxy(config)(
    `${webUrlOf(config.githubApiUrl)}/login/oauth/access_token`,
    {
      method: 'POST',
      headers: { Accept: 'application/json' },
      body: new URLSearchParams({
        client_id: settings.clientId,
        client_secret: settings.clientSecret,
        code,
        redirect_uri: settings.callbackUrl,
        code_verifier: attempt.verifier,
      }),
      signal: AbortSignal.timeout(requestTimeout),
    },
  );
  if (!response.ok) throw new Error(`GitHub answered ${response.status} to the exchange of a code`);
  return answerShape.parse(await response.json());
}

const requestTimeout = 12_000;
