import type { Actor } from '../../auth/actor.ts';

/** Who did something, for people. */
export const actorName = ({ type, name }: Actor): string =>
  type === 'application' ? `the application key ${name}` : name;
