import { createPublicKey, verify } from 'node:crypto';
import { GitHubError } from './github-error.ts';
import type { AppIdentity } from '../state/world.ts';

const longest = 10 * 60;
/** GitHub's clock and ours can differ by this many seconds. */
const leeway = 60;

/** Whether a JWT names this App as its issuer. One that cannot be decoded counts as anybody's. */
export function isIssuedBy(token: string, app: AppIdentity): boolean {
  const issuer = decode(token.split('.')[1] ?? '')?.['iss'];
  return issuer === undefined || String(issuer) === String(app.id) || issuer === app.clientId;
}

/** Checks that a JWT belongs to the App and is valid at one of these instants, in seconds. Throws GitHub's errors. */
export function verifyAppJwt(token: string, app: AppIdentity, instants: number[]): void {
  const undecodable = () => new GitHubError(401, 'A JSON web token could not be decoded');
  const [header = '', payload = '', signature = ''] = token.split('.');
  const { alg } = decode(header) ?? {};
  const claims = decode(payload);
  const signed = Buffer.from(`${header}.${payload}`);
  const key = createPublicKey(app.privateKey);
  if (alg !== 'RS256' || !claims) throw undecodable();
  if (!verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))) throw undecodable();

  const refusals = instants.map((now) => refusalAt(now, claims));
  if (!refusals.includes(null)) throw refusals[0]!;
}

/** Why claims are not good at an instant, in seconds; null if they are. */
function refusalAt(nowSeconds: number, { exp, iat }: Record<string, unknown>): GitHubError | null {
  if (typeof exp !== 'number' || exp <= nowSeconds) {
    return new GitHubError(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  }
  if (exp > nowSeconds + longest + leeway || (typeof iat === 'number' && exp - iat > longest + leeway)) {
    return new GitHubError(401, "'Expiration time' claim ('exp') is too far in the future");
  }
  if (typeof iat !== 'number' || iat > nowSeconds + leeway) {
    return new GitHubError(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  }
  return null;
}

function decode(part: string): Record<string, unknown> | null {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return null;
  }
}
