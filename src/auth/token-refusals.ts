import { forbidden, type Refusal } from '../errors.ts';
import { webUrlOf } from '../github/web-url.ts';
import type { Scope } from './token-scopes.ts';

// Why we refuse a valid token of a person, and what to add to it.

type GitHub = { config: { githubApiUrl: string } };

/** For a token from signing in: the person agreed only to show who they are. */
export const fromSignIn = (): Refusal =>
  forbidden(
    'This token comes from signing in to Holdfast, which only shows who you are. Use your own token or an admin application key.',
  );

/** @param what completes "which … needs". */
export function lacksScope({ config }: GitHub, token: string, scope: Scope, what: string): Refusal {
  const add = token.startsWith('gho_')
    ? `Run gh auth refresh -s ${scope}, and send the token that gh auth token prints then`
    : `Add it at ${webUrlOf(config.githubApiUrl)}/settings/tokens; it counts within a minute`;
  return forbidden(
    `This token lacks the scope ${scope}, which ${what} needs. ${add}. Or use an admin application key.`,
  );
}

/** @param place the repository or the owner. */
export function lacksAdministration({ config }: GitHub, token: string, place: string): Refusal {
  const add = token.startsWith('github_pat_')
    ? `Add it at ${webUrlOf(config.githubApiUrl)}/settings/personal-access-tokens`
    : 'The App that it was given to needs it';
  return forbidden(
    `This token lacks the permission Administration (read) of ${place}. ${add}. Or use an admin application key.`,
  );
}
