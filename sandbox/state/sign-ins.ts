import type { Account } from './model.ts';

/** A code on its way through somebody's browser. */
export interface AuthorizationCode {
  user: Account;
  redirectUri: string;
  /** PKCE's S256 challenge; null if none was sent. */
  challenge: string | null;
  issuedAt: Date;
}

/** The person at the browser, and what they allow the App to do. */
export class SignIns {
  /** The person who is signed in to GitHub in the browser. */
  person: Account | null = null;
  /** Ids of people who have authorized the App: GitHub does not ask them again. */
  readonly authorized = new Set<number>();
  /** Each works once. */
  readonly codes = new Map<string, AuthorizationCode>();
}
