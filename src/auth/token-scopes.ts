/** The scopes of classic and OAuth tokens that Holdfast needs. */
export type Scope = 'public_repo' | 'repo' | 'read:org' | 'admin:org';

/** GitHub names only the widest scopes. Each includes these narrower ones. */
const widerThan: Record<Scope, readonly string[]> = {
  public_repo: ['repo'],
  repo: [],
  'read:org': ['write:org', 'admin:org'],
  'admin:org': [],
};

/** The scopes in an `X-OAuth-Scopes` header, which is empty for a token without scopes. */
export const readScopes = (header: string): string[] =>
  header
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');

/** Whether one of the scopes is the wanted one, or includes it. */
export const hasScope = (scopes: readonly string[], wanted: Scope): boolean =>
  [wanted, ...widerThan[wanted]].some((scope) => scopes.includes(scope));
