import { toInstant } from '../../time/local-time.ts';
import { atOnce } from '../at-once.ts';
import type { Freeze } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { repositoriesOf } from './repositories-of.ts';

/** A freeze and its place, with its times as instants in milliseconds. */
export type ListedFreeze = {
  owner: string;
  repository: string;
  freeze: Freeze;
  startsAt: number;
  endsAt: number | null;
};

/** The scheduled and ongoing freezes of a repository, or of all repositories of an owner. The earliest comes first. */
export async function listFreezes(
  service: Service,
  { owner, repository }: { owner: string; repository: string | null },
): Promise<ListedFreeze[]> {
  const names = repository === null ? await repositoriesOf(service, owner) : [repository];
  const lists = await atOnce(names, 6, async (name) => {
    const path = v1('repos', owner, name, 'scheduled_freeze');
    const { scheduled_freezes } = await service.get<{ scheduled_freezes: Freeze[] }>(path);
    return scheduled_freezes.map((freeze) => withInstants(owner, name, freeze));
  });
  return lists.flat().toSorted((one, other) => one.startsAt - other.startsAt);
}

export const isOn = ({ startsAt, endsAt }: ListedFreeze, now: number): boolean =>
  startsAt <= now && (endsAt === null || endsAt > now);

const withInstants = (owner: string, repository: string, freeze: Freeze): ListedFreeze => ({
  owner,
  repository,
  freeze,
  startsAt: toInstant(freeze.start, freeze.timezone, 'start').getTime(),
  endsAt: freeze.end === null ? null : toInstant(freeze.end, freeze.timezone, 'end').getTime(),
});
