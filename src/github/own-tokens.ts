import type { Config } from '../config.ts';

// Tokens that people gave our own App. GitHub tells of them, and takes them back, with the App's client id and secret.

type Asking = { config: Pick<Config, 'githubApiUrl'> };
type Client = { clientId: string; clientSecret: string };

const requestTimeout = 12_000;

/**
 * Whether a token was given to our own App. Another App's token is as unknown to GitHub here as a wrong one.
 * @throws Error where GitHub says neither yes nor no.
 */
export async function isOwnToken(asking: Asking, client: Client, token: string): Promise<boolean> {
  const { status } = await send(asking, client, 'POST', token);
  if (status === 200 || status === 404) return status === 200;
  throw new Error(`GitHub answered ${status} to whether a token is our own App's`);
}

/**
 * Ends a token of our own App.
 * @throws Error where GitHub did not do it.
 */
export async function giveTokenBack(asking: Asking, client: Client, token: string): Promise<void> {
  const response = await send(asking, client, 'DELETE', token);
  if (!response.ok) throw new Error(`GitHub answered ${response.status}`);
}

function send(
  { config }: Asking,
  client: Client,
  method: 'POST' | 'DELETE',
  token: string,
): Promise<Response> {
  const { clientId, clientSecret } = client;
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  return fetch(`${config.githubApiUrl}/applications/${clientId}/token`, {
    method,
    headers: { Authorization: `Basic ${basic}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ access_token: token }),
    signal: AbortSignal.timeout(requestTimeout),
  });
}
