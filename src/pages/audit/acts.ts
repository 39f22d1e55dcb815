import type { ListedEvent } from '../../events/list-events.ts';

// What one act made: a plan and its freezes, or the freezes that one press of a button ended. The log has an event for
// each of them, and a page has one row for all.

/** @property head the event of the plan, of which the others are the freezes; null if there is none. */
export type Act = { head: ListedEvent | null; events: ListedEvent[] };

/** The longest time between two events of an act, in milliseconds: some acts change one freeze after another. */
const longestPause = 1000;

/** What of an event all events of its act share; null for one that is an act of its own. */
function actOf({ type, actorKey, trigger, metadata }: ListedEvent): string | null {
  const [about] = type.split('.');
  const { freeze_plan_id: plan } = (metadata ?? {}) as { freeze_plan_id?: unknown };
  if (typeof plan === 'string' && (about === 'scheduled_freeze' || isHead({ type })))
    return `plan ${plan} by ${actorKey}`;
  if (typeof plan === 'string' && Object.hasOwn(verbs, type)) return `${type} of ${plan}`;
  // Of a press of a button, never of calls by scripts.
  const isPressed = ['page', 'slack', 'comment'].includes(trigger);
  return about === 'scheduled_freeze' && isPressed ? `${type} by ${actorKey} ${trigger}` : null;
}

const isHead = ({ type }: Pick<ListedEvent, 'type'>): boolean =>
  /^freeze_plan\.(create|update|delete|restore)$/.test(type);

/** Whether an older event may belong to the act of this one. */
export const isOfMany = (event: ListedEvent): boolean => !isHead(event) && actOf(event) !== null;

/** Whether the older one of two neighbours in a log belongs to the act of the newer one. */
export function isSameAct(newer: ListedEvent, older: ListedEvent): boolean {
  // The event of a plan is written before those of its freezes.
  if (isHead(newer)) return false;
  const act = actOf(newer);
  const pause = newer.receivedAt.getTime() - older.receivedAt.getTime();
  return act !== null && act === actOf(older) && pause <= longestPause;
}

/** The acts of a log. @param events newest first. */
export function actsIn(events: ListedEvent[]): Act[] {
  const acts: Act[] = [];
  for (const [index, event] of events.entries()) {
    const act = index > 0 && isSameAct(events[index - 1]!, event) ? acts.at(-1)! : null;
    if (act && isHead(event)) act.head = event;
    else if (act) act.events.push(event);
    else acts.push({ head: null, events: [event] });
  }
  return acts;
}

const verbs: Record<string, string> = {
  'scheduled_freeze.create': 'created',
  'scheduled_freeze.update': 'changed',
  'scheduled_freeze.delete': 'deleted',
  'scheduled_freeze.restore': 'restored',
  'freeze.starting_soon': 'recorded the coming start of',
  'freeze.started': 'recorded the start of',
  'freeze.ending_soon': 'recorded the coming end of',
  'freeze.ended': 'recorded the end of',
};

/** What an act did to its freezes: `created`, before their number. */
export function didToFreezes({ events }: Act): string {
  const types = new Set(events.map(({ type }) => type));
  const [only = ''] = types;
  return (types.size === 1 && verbs[only]) || 'changed';
}
