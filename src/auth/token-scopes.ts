/** The scopes of classic and OAuth tokens that something here needs. */
export type Scope = 'public_repo' | 'repo' | 'read:org' | 'admin:org';

/** GitHub names the widest scopes only: these stand for the narrower ones as well. */
const widerThan: Record<Scope, readonly string[]> = {
  public_repo: ['repo'],
  repo: [],
  'read:org': ['write:org', 'admin:org'],
  'admin:org': [],
};

/** The scopes of an `X-OAuth-Scopes` header, which is empty for a token that has none. */
export const readScopes = (header: string): string[] =>
  header
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');

/** Whether one of the scopes is the one that is wanted, or contains it. */
export const hasScope = (scopes: readonly string[], wanted: Scope): boolean =>
  [wanted, ...widerThan[wanted]].some((scope) => scopes.includes(scope));
