import { type Actor, ourselves } from '../../events/actor.ts';

/** Who did something, for people. */
export const actorName = ({ type, id, name }: Actor): string =>
  type === 'application' && id !== ourselves.id ? `the application key ${name}` : name;
