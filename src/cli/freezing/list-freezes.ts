import { toInstant } from '../../time/local-time.ts';
import { inEach } from './items.ts';
import type { Schemas, Service } from '../service/service.ts';
import type { OwnerOrRepository, Repository } from '../target.ts';

/** A freeze and its repository, with its times as instants in milliseconds. */
export type ListedFreeze = Repository & {
  freeze: Schemas['ScheduledFreeze'];
  startsAt: number;
  endsAt: number | null;
};

/** The scheduled and ongoing freezes of a repository, or of all repositories of an owner. The earliest comes first. */
export async function listFreezes(service: Service, place: OwnerOrRepository): Promise<ListedFreeze[]> {
  const freezes = await inEach(service, place, async (repository) => {
    const path = '/repos/{owner}/{repository}/scheduled_freeze';
    const { scheduled_freezes } = await service.get(path, repository);
    return scheduled_freezes.map((freeze) => ({
      ...repository,
      freeze,
      startsAt: toInstant(freeze.start, freeze.timezone, 'start').getTime(),
      endsAt: freeze.end === null ? null : toInstant(freeze.end, freeze.timezone, 'end').getTime(),
    }));
  });
  return freezes.toSorted((one, other) => one.startsAt - other.startsAt);
}

export const isOn = ({ startsAt, endsAt }: ListedFreeze, now: number): boolean =>
  startsAt <= now && (endsAt === null || endsAt > now);

/** Groups the freezes of one occurrence of a plan. Keeps the order of the list. */
export function byOccurrence(freezes: ListedFreeze[]): ListedFreeze[][] {
  const groups = Map.groupBy(freezes, ({ freeze, startsAt, endsAt }) =>
    freeze.plan_id === undefined ? freeze.id : JSON.stringify([freeze.plan_id, startsAt, endsAt]),
  );
  return [...groups.values()];
}
