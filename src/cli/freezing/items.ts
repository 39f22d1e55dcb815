import pLimit from 'p-limit';
import type { ServiceConnection } from '../command.ts';
import type { Item, KindOfItem } from '../memory.ts';
import type { Schemas, ServiceClient } from '../service/service.ts';
import { misused, refusedBy, CommandStop } from '../stop.ts';
import { isId, nameOfTarget, type OwnerOrRepository, readPlace, type RepositoryTarget } from '../target.ts';

/** How many requests run at once. */
export const requestsAtOnce = 6;

/** The repositories of an owner where Holdfast is installed. Archived ones count nowhere. */
async function repositoriesOf(service: ServiceClient, owner: string): Promise<string[]> {
  const { repositories, archived = [] } = await service.get('/repos/{owner}', { owner });
  return repositories.map(({ name }) => name).filter((name) => !archived.includes(name));
}

/** Does the work for the repository, or for all of the owner where Holdfast is installed, several at once. */
export async function inEach<Result>(
  service: ServiceClient,
  { owner, repository }: OwnerOrRepository,
  work: (repository: RepositoryTarget) => Promise<Result[]>,
): Promise<Result[]> {
  const names = repository === null ? await repositoriesOf(service, owner) : [repository];
  const places = names.map((name) => ({ owner, repository: name }));
  return (await pLimit(requestsAtOnce).map(places, work)).flat();
}

/** An exemption of a pull request or of a deployment. */
export type AnyExemption = Schemas['Exemption'] | Schemas['DeploymentExemption'];

export const exemptionKinds: KindOfItem[] = ['exemption', 'deployment exemption'];

/** How this machine saves an exemption. */
export const itemOf = (repository: RepositoryTarget, exemption: AnyExemption) => ({
  kind: 'environment' in exemption ? ('deployment exemption' as const) : ('exemption' as const),
  ...{ id: exemption.id, ...repository },
});

/** All exemptions of a repository, those of pull requests first. @param state such as `approved`; by default any. */
export async function exemptionsOf(
  service: ServiceClient,
  repository: RepositoryTarget,
  state?: string,
): Promise<AnyExemption[]> {
  const found: AnyExemption[] = [];
  const query = { state, per_page: '100' };
  for await (const page of service.pages('/repos/{owner}/{repository}/exemptions', repository, query))
    found.push(...page.exemptions);
  const ofDeployments = '/repos/{owner}/{repository}/deployment_exemptions';
  for await (const page of service.pages(ofDeployments, repository, query))
    found.push(...page.deployment_exemptions);
  return found;
}

/**
 * Finds something by its id: as this machine saw it, in the place of the option `--in`, or in the owner of the key.
 * @throws Stop if nobody knows where it is, or if it is not there.
 */
export async function findItem(
  { service, memory }: Pick<ServiceConnection, 'service' | 'memory'>,
  id: string,
  kinds: KindOfItem[],
  where: string | undefined,
): Promise<Item> {
  if (!isId(id)) throw misused(`"${id}" is not an ID. Use holdfast list or holdfast requests to find IDs.`);
  const known = memory.find(id);
  if (known && kinds.includes(known.kind)) return known;
  const place =
    where === undefined
      ? await ownerOfKey(service, `Add --in acme or --in acme/web, where ${id} is.`)
      : readPlace(where);
  const item = await search(service, id, kinds, place);
  if (!item) throw refusedBy(`There is no ${kinds.join(' or ')} ${id} in ${nameOfTarget(place)}.`);
  memory.save([item]);
  return item;
}

/** The owner of the application key. @param advice what to write for a credential that belongs to no owner. */
async function ownerOfKey(service: ServiceClient, advice: string): Promise<OwnerOrRepository> {
  try {
    const { account_scope } = await service.get('/application', {});
    return { owner: account_scope.login, repository: null };
  } catch (error) {
    // A person's token belongs to no owner.
    if (!(error instanceof CommandStop) || error.status !== 403) throw error;
    throw misused(advice);
  }
}

/** The place that a target names; without one, the owner of the application key. */
export const ownPlace = async (
  service: ServiceClient,
  target: string | undefined,
): Promise<OwnerOrRepository> =>
  target === undefined
    ? ownerOfKey(service, 'Name an owner or a repository, such as acme or acme/web.')
    : readPlace(target);

async function search(
  service: ServiceClient,
  id: string,
  kinds: KindOfItem[],
  place: OwnerOrRepository,
): Promise<Item | undefined> {
  const isIt = (each: { id: string }) => each.id === id.toLowerCase();
  if (kinds.includes('plan') && place.repository === null) {
    const { freeze_plans } = await service.get('/freeze_plans/{owner}', place);
    if (freeze_plans.some(isIt)) return { kind: 'plan', id, ...place };
  }
  const found = await inEach(service, place, async (repository): Promise<Item[]> => {
    if (kinds.includes('freeze')) {
      const path = '/repos/{owner}/{repository}/scheduled_freeze';
      const { scheduled_freezes } = await service.get(path, repository);
      if (scheduled_freezes.some(isIt)) return [{ kind: 'freeze', id, ...repository }];
    }
    if (!kinds.includes('exemption')) return [];
    return (await exemptionsOf(service, repository)).filter(isIt).map((each) => itemOf(repository, each));
  });
  return found[0];
}

/** Ends a freeze, or a plan with its freezes. */
export const endItem = (service: ServiceClient, { kind, id, owner, repository }: Item, reason: string) =>
  kind === 'plan'
    ? service.post(
        '/freeze_plans/{owner}/{plan_id}/delete',
        { owner, plan_id: id },
        { delete_reason: reason },
      )
    : service.post(
        '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/delete',
        { owner, repository: repository!, freeze_id: id },
        { delete_reason: reason },
      );

/** A freeze and its repository, with its times as instants in milliseconds. */
export type ListedFreeze = RepositoryTarget & {
  freeze: Schemas['ScheduledFreeze'];
  startsAt: number;
  endsAt: number | null;
};

/** The scheduled and ongoing freezes of a repository, or of all repositories of an owner. The earliest comes first. */
export async function fetchFreezes(
  service: ServiceClient,
  place: OwnerOrRepository,
): Promise<ListedFreeze[]> {
  const { toInstant } = await import('../../time/local-time.ts');
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

export const isOngoingItem = ({ startsAt, endsAt }: ListedFreeze, now: number): boolean =>
  startsAt <= now && (endsAt === null || endsAt > now);

/** Groups the freezes of one occurrence of a plan. Keeps the order of the list. */
export function byOccurrence(freezes: ListedFreeze[]): ListedFreeze[][] {
  const groups = Map.groupBy(freezes, ({ freeze, startsAt, endsAt }) =>
    freeze.plan_id === undefined ? freeze.id : JSON.stringify([freeze.plan_id, startsAt, endsAt]),
  );
  return [...groups.values()];
}
