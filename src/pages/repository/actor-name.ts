import { type Actor, ourselves } from '../../events/actor.ts';

/** The name of an actor, for people. */
export function actorName(actor: Actor): string {
  if (actor.type === 'user' || actor.id === ourselves.id) return actor.name;
  return `${actor.run === undefined ? 'the application key' : 'the job'} ${actor.name}`;
}
