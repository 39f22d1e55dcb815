import { toLocalTime } from '../../time/local-time.ts';
import type { Call } from '../call.ts';
import type { Freeze } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { Stop } from '../stop.ts';
import { nameOf, type Repository } from '../target.ts';

/**
 * Freezes that end by themselves unless they are renewed.
 * @property length milliseconds that each has from when it is made or renewed.
 */
export type Lease = {
  service: Service;
  length: number;
  body: object;
  freezes: (Repository & { id: string })[];
};

/** Makes a freeze of each place, from now until the lease runs out. */
export async function makeFreezes({ world }: Call, lease: Lease, places: Repository[]): Promise<void> {
  for (const place of places) {
    const times = { start: null, end: endOf(world, lease), timezone: world.zone };
    const path = v1('repos', place.owner, place.repository, 'scheduled_freeze');
    const { id } = await lease.service.post<Freeze>(path, { ...lease.body, ...times });
    lease.freezes.push({ ...place, id });
  }
}

/** Moves the ends on, four times in the length of a lease, until the signal says so. It warns and never throws. */
export async function renewFreezes({ world, output }: Call, lease: Lease, done: AbortSignal): Promise<void> {
  for (;;) {
    const isDone = await world.delay(lease.length / 4, done).then(
      () => false,
      () => true,
    );
    if (isDone) return;
    for (const freeze of [...lease.freezes]) {
      const end = endOf(world, lease);
      await lease.service.patch(pathOf(freeze), { end }).catch((error: unknown) => {
        if (error instanceof Stop && error.status === 404) {
          // Somebody let go while it ran: that counts.
          lease.freezes.splice(lease.freezes.indexOf(freeze), 1);
          output.note(`Somebody ended the freeze of ${nameOf(freeze)}. The command goes on.`);
        } else
          output.note(`The freeze of ${nameOf(freeze)} could not be renewed: ${(error as Error).message}`);
      });
    }
  }
}

/** Ends what is left. It warns and never throws: the freezes end by themselves. */
export async function endFreezes({ output }: Call, lease: Lease, reason: string): Promise<void> {
  for (const freeze of lease.freezes.splice(0)) {
    await lease.service
      .post(`${pathOf(freeze)}/delete`, { delete_reason: reason })
      .catch((error: unknown) => {
        if (error instanceof Stop && error.status === 404) return;
        const minutes = Math.ceil(lease.length / 60_000);
        output.note(
          `The freeze of ${nameOf(freeze)} could not be ended, so it ends by itself within ${minutes} minutes: ${(error as Error).message}`,
        );
      });
  }
}

const pathOf = ({ owner, repository, id }: Repository & { id: string }): string =>
  v1('repos', owner, repository, 'scheduled_freeze', id);

const endOf = ({ now, zone }: Call['world'], { length }: Lease): string =>
  toLocalTime(new Date(now() + length), zone);
