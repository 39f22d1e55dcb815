import { describeInstant, toInstant, toLocalTime } from '../../time/local-time.ts';
import { atOnce } from '../at-once.ts';
import type { Call } from '../call.ts';
import type { Freeze } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { nameOf, type Repository } from '../target.ts';

/**
 * @property ends every end that this command set. If the freeze has another end, somebody moved it.
 * @property until the last end that the service accepted, in milliseconds.
 */
type Leased = Repository & { id: string; ends: string[]; until: number };

/**
 * Freezes that end by themselves unless they are renewed.
 * @property length milliseconds from when a freeze is made or renewed to its end.
 */
export type Lease = {
  service: Service;
  length: number;
  body: object;
  freezes: Leased[];
};

/** In UTC no hour comes twice, so no end is later than the lease. */
const timezone = 'UTC';
/** How many requests run at once: one that hangs does not delay the others. */
const most = 6;

/** Makes a freeze of each place, from now until the lease ends. */
export async function makeFreezes(
  { world, output }: Call,
  lease: Lease,
  places: Repository[],
): Promise<void> {
  for (const place of places) {
    const { owner, repository } = place;
    const end = endOf(world, lease);
    const body = { ...lease.body, start: null, end, timezone };
    const made = await lease.service.post<Freeze>(v1('repos', owner, repository, 'scheduled_freeze'), body);
    lease.freezes.push({ ...place, id: made.id, ends: [end], until: instantOf(end) });
    for (const warning of made.warnings ?? []) output.note(`Warning: ${nameOf(place)}: ${warning}`);
  }
}

/** Moves the ends, four times in each lease, until the signal stops it. It warns and never throws. */
export async function renewFreezes(call: Call, lease: Lease, done: AbortSignal): Promise<void> {
  const renew = async (freeze: Leased) => {
    const end = endOf(call.world, lease);
    freeze.ends.push(end);
    await lease.service.patch(pathOf(freeze), { end });
    freeze.until = instantOf(end);
  };
  for (;;) {
    const isDone = await call.world.delay(lease.length / 4, done).then(
      () => false,
      () => true,
    );
    if (isDone) return;
    await atOnce([...lease.freezes], most, (freeze) =>
      doIfOurs(call, lease, freeze, renew).catch(({ message }: Error) =>
        call.output.note(`The freeze of ${nameOf(freeze)} could not be renewed: ${message}`),
      ),
    );
  }
}

/** Ends the freezes that are left. It warns and never throws, because the freezes end by themselves. */
export async function endFreezes(call: Call, lease: Lease, reason: string): Promise<void> {
  const end = async (freeze: Leased) =>
    void (await lease.service.post(`${pathOf(freeze)}/delete`, { delete_reason: reason }));
  const minutes = Math.ceil(lease.length / 60_000);
  await atOnce(lease.freezes.splice(0), most, (freeze) =>
    doIfOurs(call, lease, freeze, end).catch(({ message }: Error) =>
      call.output.note(
        `The freeze of ${nameOf(freeze)} could not be ended, so it ends by itself within ${minutes} minutes: ${message}`,
      ),
    ),
  );
}

/** Changes a freeze unless somebody else ended or moved it. Their change counts, and the lease drops the freeze. */
async function doIfOurs(
  call: Call,
  lease: Lease,
  freeze: Leased,
  work: (freeze: Leased) => Promise<void>,
): Promise<void> {
  const { owner, repository, id, ends, until } = freeze;
  const path = v1('repos', owner, repository, 'scheduled_freeze');
  const { scheduled_freezes } = await lease.service.get<{ scheduled_freezes: Freeze[] }>(path);
  const found = scheduled_freezes.find((each) => each.id === id);
  if (found && ends.includes(found.end ?? '')) return work(freeze);
  const isRunning = lease.freezes.includes(freeze);
  lease.freezes = lease.freezes.filter((each) => each !== freeze);
  if (found) {
    const { end, timezone: zone } = found;
    const moved = end === null ? 'somebody removes it' : describeInstant(toInstant(end, zone, 'end'), zone);
    call.output.note(
      `Somebody moved the end of the freeze of ${nameOf(freeze)}, so it stays until ${moved}: holdfast unfreeze ${id} --in ${nameOf(freeze)}`,
    );
  } else if (!isRunning) {
    // It has ended as planned.
  } else if (call.world.now() < until) {
    call.output.note(`Somebody ended the freeze of ${nameOf(freeze)}. The command goes on.`);
  } else {
    call.output.note(
      `The freeze of ${nameOf(freeze)} ran out before it could be renewed. It is frozen again.`,
    );
    await makeFreezes(call, lease, [{ owner, repository }]);
  }
}

const instantOf = (end: string): number => toInstant(end, timezone, 'end').getTime();

const pathOf = ({ owner, repository, id }: Leased): string =>
  v1('repos', owner, repository, 'scheduled_freeze', id);

const endOf = ({ now }: Call['world'], { length }: Lease): string =>
  toLocalTime(new Date(now() + length), timezone);
