import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** Of the issuer, below a GitHub Enterprise Server's address; github.com has a host of its own for it. */
export const issuerPath = '/_services/token';

/** A key that GitHub signs the OIDC tokens of jobs with. */
export interface OidcKey {
  kid: string;
  privateKey: KeyObject;
}

/** RSA keys take their time: the first one is shared by all sandboxes of a process. */
let firstKey: OidcKey | undefined;

function generateKey(): OidcKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = createHash('sha1').update(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }));
  return { kid: kid.digest('hex').toUpperCase(), privateKey };
}

/** The keys of the OIDC issuer: the last one signs, and all are shown until they are taken back. */
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

  /** Leaves the one that signs. */
  retireFormer(): void {
    this.#keys = [this.signing];
  }

  /** What GitHub shows at `.well-known/jwks`. */
  keySet() {
    const shown = this.#all().map(({ kid, privateKey }) => ({
      ...createPublicKey(privateKey).export({ format: 'jwk' }),
      ...{ kid, alg: 'RS256', use: 'sig' },
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
