import type { Account } from './model.ts';

/** A code on its way through somebody's browser. */
export interface AuthorizationCode {
  user: Account;
  redirectUri: string;
  /** PKCE's S256 challenge; null where none was sent. */
  challenge: string | null;
  issuedAt: Date;
}

/** Who sits at the browser, and what they let the App do. */
export class SignIns {
  /** Whom the browser is signed in as at GitHub. */
  person: Account | null = null;
  /** Ids of people who have authorized the App: GitHub does not ask them again. */
  readonly authorized = new Set<number>();
  /** Each works once. */
  readonly codes = new Map<string, AuthorizationCode>();
}
