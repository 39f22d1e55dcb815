import { atOnce } from '../at-once.ts';
import type { Call } from '../call.ts';
import { command } from '../command.ts';
import { placeOf } from '../freezing/find-place.ts';
import type { ListedFreeze } from '../freezing/list-freezes.ts';
import type { Place, Seen } from '../memory/seen.ts';
import type { Plan } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { exitCodes, misused, refused, Stop } from '../stop.ts';
import { isId, nameOf, readPlace } from '../target.ts';

type Options = { message: string; all?: true; in?: string };
type Ending = Place & { id: string };

export const unfreeze = command<Options, [targets: string[]]>({
  usage: 'unfreeze <targets...>',
  summary: 'end freezes: those that you created here, those that you name, or all ongoing ones',
  options: [
    ['-m, --message <reason>', 'the reason, which the audit log keeps', 'required'],
    ['--all', 'end all ongoing freezes, no matter who created them'],
    ['--in <place>', 'where the freezes are, if this machine has not seen them: acme or acme/web'],
  ],
  examples: [
    [
      'holdfast unfreeze acme/web -m "Fixed"',
      'End what holdfast freeze created on this machine in a repository',
    ],
    [
      'holdfast unfreeze acme/web acme/api -m "Fixed"',
      'End what holdfast freeze created for these two together',
    ],
    ['holdfast unfreeze bf0fbf0b-aa94-4bb6-a379-12b701f7db78 -m "Fixed"', 'End one freeze or plan'],
    ['holdfast unfreeze acme --all -m "Over"', 'End all ongoing freezes in every repository of an owner'],
  ],
  async run(call, options, targets) {
    if (options.all && targets.some(isId))
      throw misused('With --all, name an owner or repositories, not IDs.');
    const { service, seen } = await call.connect();
    const endings = new Map<string, Ending>();
    for (const target of targets)
      for (const ending of await endingsOf(call, { service, seen, targets }, target, options))
        endings.set(ending.id, ending);
    const ended: Ending[] = [];
    for (const ending of endings.values()) {
      const { kind, id, ...place } = ending;
      if (await end(service, ending, options.message)) {
        ended.push(ending);
        call.output.line(`Ended ${kind} ${id} of ${nameOf(place)}.`);
      }
      seen.forget([id]);
    }
    if (ended.length === 0) call.output.line('Nothing was on.');
    call.output.json({ ended: ended.map(({ kind, id, ...place }) => ({ kind, id, in: nameOf(place) })) });
    return exitCodes.done;
  },
});

/** @property targets all named targets. */
type Asked = { service: Service; seen: Seen; targets: string[] };

async function endingsOf(
  call: Call,
  { service, seen, targets }: Asked,
  target: string,
  { all, in: where }: Options,
): Promise<Ending[]> {
  if (isId(target)) {
    return [{ id: target, ...(await placeOf({ service, seen }, target, ['freeze', 'plan'], where)) }];
  }
  const place = readPlace(target);
  if (all) return allThatIsOn(call, service, place);
  const made = [
    ...seen.made(place.owner, place.repository),
    ...(place.repository === null ? [] : await madeAmongOthers({ service, seen, targets }, place)),
  ];
  if (made.length > 0) return made;
  throw refused(
    `Nothing that holdfast freeze made from this machine is on in ${target}. See holdfast list ${target}, and name an id; or add --all.`,
  );
}

/**
 * What `holdfast freeze` made on this machine in a repository together with others: the plan, if all of its
 * repositories are named here too, or else its freezes in this repository.
 */
async function madeAmongOthers(
  { service, seen, targets }: Asked,
  { owner, repository }: { owner: string; repository: string | null },
): Promise<Ending[]> {
  const plans = seen.made(owner, null).filter(({ kind }) => kind === 'plan');
  if (plans.length === 0) return [];
  const places = targets.filter((target) => !isId(target)).map(readPlace);
  const named = new Set(places.map((place) => nameOf(place).toLowerCase()));
  const { listFreezes } = await import('../freezing/list-freezes.ts');
  const freezes = await listFreezes(service, { owner, repository });
  const endings = await atOnce(plans, 6, async (plan): Promise<Ending[]> => {
    const own = freezes.filter(({ freeze }) => freeze.plan_id === plan.id);
    if (own.length === 0) return [];
    const { repositories } = await service.get<Plan>(v1('freeze_plans', owner, plan.id));
    const isWhole = repositories.include.every((name) => named.has(`${owner}/${name}`.toLowerCase()));
    return isWhole ? [plan] : own.map(freezeEnding);
  });
  return endings.flat();
}

const freezeEnding = ({ freeze, owner, repository }: ListedFreeze): Ending => ({
  kind: 'freeze',
  id: freeze.id,
  owner,
  repository,
});

/**
 * The ongoing freezes of a place. A plan that does not repeat ends as a whole; of others, only these occurrences end.
 */
async function allThatIsOn(
  { world }: Call,
  service: Service,
  { owner, repository }: { owner: string; repository: string | null },
): Promise<Ending[]> {
  const { isOn, listFreezes } = await import('../freezing/list-freezes.ts');
  const now = world.now();
  const freezes = (await listFreezes(service, { owner, repository })).filter((each) => isOn(each, now));
  const whole = new Set(repository === null ? await plansForOnce(service, owner) : []);
  const plans = [...new Set(freezes.flatMap(({ freeze }) => freeze.plan_id ?? []))].filter((id) =>
    whole.has(id),
  );
  return [
    ...plans.map((id) => ({ kind: 'plan' as const, id, owner, repository: null })),
    ...freezes
      .filter(({ freeze }) => freeze.plan_id === undefined || !whole.has(freeze.plan_id))
      .map(freezeEnding),
  ];
}

async function plansForOnce(service: Service, owner: string): Promise<string[]> {
  const { freeze_plans } = await service.get<{ freeze_plans: Plan[] }>(v1('freeze_plans', owner));
  return freeze_plans.filter(({ recurrence }) => recurrence === null).map(({ id }) => id);
}

/** @returns whether it still existed. */
async function end(
  service: Service,
  { kind, id, owner, repository }: Ending,
  reason: string,
): Promise<boolean> {
  const path =
    kind === 'plan'
      ? v1('freeze_plans', owner, id, 'delete')
      : v1('repos', owner, repository!, 'scheduled_freeze', id, 'delete');
  try {
    await service.post(path, { delete_reason: reason });
    return true;
  } catch (error) {
    // A freeze that ended by itself needs nothing.
    if (error instanceof Stop && error.status === 404) return false;
    throw error;
  }
}
