import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** The path of the issuer at a GitHub Enterprise Server. github.com has a separate host for it. */
export const issuerPath = '/_services/token';

/** A key with which GitHub signs the OIDC tokens of jobs. */
export interface OidcKey {
  kid: string;
  privateKey: KeyObject;
}

/** RSA keys take time to make, so all sandboxes of a process share the first one. */
let firstKey: OidcKey | undefined;

function generateKey(): OidcKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = createHash('sha1').update(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }));
  return { kid: kid.digest('hex').toUpperCase(), privateKey };
}

/** The keys of the OIDC issuer. The last one signs. All are shown until they are revoked. */
export class OidcKeys {
  #keys: OidcKey[] | null = null;

  #all(): OidcKey[] {
    return (this.#keys ??= [(firstKey ??= generateKey())]);
  }

  get signing(): OidcKey {
    return this.#all().at(-1)!;
  }

  rotate(): void {
    this.#all().push(generateKey());
  }

  /** Keeps only the key that signs. */
  retireFormer(): void {
    this.#keys = [this.signing];
  }

  /** What GitHub shows at `.well-known/jwks`. */
  keySet() {
    const shown = this.#all().map(({ kid, privateKey }) => ({
      ...createPublicKey(privateKey).export({ format: 'jwk' }),
      kid,
      alg: 'RS256',
      use: 'sig',
    }));
    return { keys: shown };
  }

  sign(claims: object): string {
    const { kid, privateKey } = this.signing;
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${encode({ typ: 'JWT', alg: 'RS256', kid })}.${encode(claims)}`;
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }
}
