/** A GraphQL actor; null if the account was deleted. */
export type ActorAnswer = { __typename: string; login: string } | null;

/** GraphQL calls a bot `dependabot`. Everywhere else, and in conditions, it is `dependabot[bot]`. */
export function loginOf(actor: ActorAnswer): string | null {
  if (!actor) return null;
  return actor.__typename === 'Bot' ? `${actor.login}[bot]` : actor.login;
}
