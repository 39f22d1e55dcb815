/**
 * Who made a change, for the audit log: an application key with its UUID, a person with their GitHub id, or a job of
 * GitHub Actions with the UUID of the rule that let it in and the page of its run.
 */
export type Actor =
  | { type: 'application'; id: string; name: string; run?: string }
  | { type: 'user'; id: number; name: string };

/** Holdfast itself, as the actor of what it finds. */
export const ourselves: Actor = { type: 'application', id: 'holdfast', name: 'Holdfast' };

/**
 * Who is in a column or an event. What another version or a person wrote there can have another shape: then it is
 * somebody, and nobody's page fails.
 */
export function actorIn(value: unknown): Actor {
  const { type, name } = (value ?? {}) as Partial<Actor>;
  const isOurs = (type === 'user' || type === 'application') && typeof name === 'string';
  return isOurs ? (value as Actor) : { type: 'user', id: 0, name: 'somebody' };
}

/** The name of an actor, for people. */
export function actorName(actor: Actor): string {
  if (actor.type === 'user' || actor.id === ourselves.id) return actor.name;
  return `${actor.run === undefined ? 'the application key' : 'the job'} ${actor.name}`;
}

/** Finds the events of an actor: the login of a person, after an `@`, or the id of a key or rule. */
export const actorKey = ({ type, id, name }: Actor): string =>
  type === 'user' ? `@${name.toLowerCase()}` : String(id);

/** How something came about: by a caller, or by what a plan, the clock or GitHub did. The words of the API. */
export const triggers = ['api', 'page', 'comment', 'slack', 'plan', 'clock', 'github'] as const;
export type Trigger = (typeof triggers)[number];

/** Which Slack app brought a request, and from where. Whoever has the secret of an `owner`'s app can speak for anybody. */
export type SlackVia = { slack_team_id: string; slack_app: 'owner' | 'service' };

/** The road by which a caller came. @property via for Slack. */
export type Road = { trigger: Trigger; via?: SlackVia };

/** No text and no column has it: it belongs to one call, and not to who somebody is. */
const road = Symbol('road');

/** The actor of a call that came by a road. */
export const onRoad = (actor: Actor, by: Road): Actor => Object.assign({ [road]: by }, actor);

/** By which road the actor of a call came; null for one that was read from somewhere, and for what Holdfast does itself. */
export const roadOf = (actor: Actor | null): Road | null =>
  (actor as { [road]?: Road } | null)?.[road] ?? null;

/** Whether an owner's own Slack app says that it is this person: its admins could have made that up. */
export const isSaidByOwner = (actor: Actor): boolean => roadOf(actor)?.via?.slack_app === 'owner';
