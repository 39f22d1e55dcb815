import { type Actor, ourselves } from '../../events/actor.ts';

/** The name of an actor, for people. */
export const actorName = ({ type, id, name }: Actor): string =>
  type === 'application' && id !== ourselves.id ? `the application key ${name}` : name;
