import type { Config } from '../config.ts';

// Tokens that people gave our own App. With the App's client id and secret, GitHub describes and revokes them.

type Asking = { config: Pick<Config, 'githubApiUrl'> };
type Client = { clientId: string; clientSecret: string };

const requestTimeout = 12_000;

/**
 * Whether a token belongs to our own App. Here GitHub gives the same answer for another App's token and a wrong one.
 * @throws Error if GitHub says neither yes nor no.
 */
export async function isOwnToken(asking: Asking, client: Client, token: string): Promise<boolean> {
  const { status } = await send(asking, client, 'POST', token);
  if (status === 200 || status === 404) return status === 200;
  throw new Error(`GitHub answered ${status} to whether a token is our own App's`);
}

/** Revokes a token of our own App. @throws Error if GitHub did not do it. */
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
