/**
 * Who made a change, for the audit log: an application key with its UUID, a person with their GitHub id, or a job of
 * GitHub Actions with the UUID of the rule that let it in and the page of its run.
 */
export type Actor =
  | { type: 'application'; id: string; name: string; run?: string }
  | { type: 'user'; id: number; name: string };

/** Holdfast itself, as the actor of what it finds. */
export const ourselves: Actor = { type: 'application', id: 'holdfast', name: 'Holdfast' };

/** The name of an actor, for people. */
export function actorName(actor: Actor): string {
  if (actor.type === 'user' || actor.id === ourselves.id) return actor.name;
  return `${actor.run === undefined ? 'the application key' : 'the job'} ${actor.name}`;
}

/** Finds the events of an actor: the login of a person, after an `@`, or the id of a key or rule. */
export const actorKey = ({ type, id, name }: Actor): string =>
  type === 'user' ? `@${name.toLowerCase()}` : String(id);
