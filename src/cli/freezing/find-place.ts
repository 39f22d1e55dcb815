import { atOnce } from '../at-once.ts';
import type { Kind, Place, Seen } from '../memory/seen.ts';
import type { Exemption, Freeze, Plan } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { misused, refused, Stop } from '../stop.ts';
import { isId, nameOf, readPlace } from '../target.ts';
import { repositoriesOf } from './repositories-of.ts';

/**
 * Where something with an id is: as the option `--in` says, as this machine saw it, or in the owner of the key.
 * @throws Stop if nobody knows, or if it is not there.
 */
export async function placeOf(
  { service, seen }: { service: Service; seen: Seen },
  id: string,
  kinds: Kind[],
  where: string | undefined,
): Promise<Place> {
  if (!isId(id)) throw misused(`"${id}" is not an ID. Use holdfast list or holdfast requests to find IDs.`);
  const known = seen.find(id);
  if (known && kinds.includes(known.kind)) return known;
  const place = where === undefined ? await ownerOfKey(service, id) : readPlace(where);
  const found = await search(service, id, kinds, place);
  if (!found) throw refused(`There is no ${kinds.join(' or ')} ${id} in ${nameOf(place)}.`);
  seen.keep([{ id, ...found }]);
  return found;
}

async function ownerOfKey(service: Service, id: string): Promise<{ owner: string; repository: null }> {
  try {
    const { account_scope } = await service.get<{ account_scope: { login: string } }>(v1('application'));
    return { owner: account_scope.login, repository: null };
  } catch (error) {
    // A person's token belongs to no owner.
    if (!(error instanceof Stop) || error.status !== 403) throw error;
    throw misused(`Say where ${id} is: --in acme or --in acme/web.`);
  }
}

async function search(
  service: Service,
  id: string,
  kinds: Kind[],
  { owner, repository }: { owner: string; repository: string | null },
): Promise<Place | null> {
  const isIt = (each: { id: string }) => each.id === id.toLowerCase();
  if (kinds.includes('plan') && repository === null) {
    const { freeze_plans } = await service.get<{ freeze_plans: Plan[] }>(v1('freeze_plans', owner));
    if (freeze_plans.some(isIt)) return { kind: 'plan', owner, repository: null };
  }
  const names = repository === null ? await repositoriesOf(service, owner) : [repository];
  const found = await atOnce(names, 6, async (name): Promise<Place[]> => {
    const place = { owner, repository: name };
    if (kinds.includes('freeze')) {
      const path = v1('repos', owner, name, 'scheduled_freeze');
      const { scheduled_freezes } = await service.get<{ scheduled_freezes: Freeze[] }>(path);
      if (scheduled_freezes.some(isIt)) return [{ kind: 'freeze', ...place }];
    }
    if (kinds.includes('exemption')) {
      const path = v1('repos', owner, name, 'exemptions');
      for await (const { exemptions } of service.pages<{ exemptions: Exemption[] }>(path, {
        per_page: '100',
      }))
        if (exemptions.some(isIt)) return [{ kind: 'exemption', ...place }];
    }
    return [];
  });
  return found.flat()[0] ?? null;
}
