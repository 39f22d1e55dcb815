import pLimit from 'p-limit';
import { describeInstant, toInstant, toLocalTime } from '../../time/local-time.ts';
import type { Call } from '../command.ts';
import type { Schemas, Service } from '../service/service.ts';
import { nameOf, type Repository } from '../target.ts';
import { endItem } from './items.ts';

/**
 * @property ends every end that this command set. If the freeze has another end, somebody moved it.
 * @property until the last end that the service accepted, in milliseconds.
 */
type Freeze = Repository & { id: string; ends: string[]; until: number };

/**
 * Freezes that end by themselves unless they are renewed.
 * @property length milliseconds from when a freeze is created or renewed to its end.
 */
export type RenewedFreezes = {
  service: Service;
  length: number;
  body: Pick<Schemas['NewScheduledFreeze'], 'reason' | 'matching_conditions' | 'exclude_conditions'>;
  freezes: Freeze[];
};

/** In UTC no hour comes twice, so no end is later than it should be. */
const timezone = 'UTC';
/** Several requests run at once: one that hangs does not delay the others. */
const most = 6;

/** Creates a freeze of each repository, from now. */
export async function createFreezes(
  { world, output }: Call,
  renewed: RenewedFreezes,
  repositories: Repository[],
): Promise<void> {
  for (const repository of repositories) {
    const end = endOf(world, renewed);
    const body = { ...renewed.body, start: null, end, timezone };
    const path = '/repos/{owner}/{repository}/scheduled_freeze';
    const { id, warnings } = await renewed.service.post(path, repository, body);
    renewed.freezes.push({ ...repository, id, ends: [end], until: instantOf(end) });
    for (const warning of warnings ?? []) output.note(`Warning: ${nameOf(repository)}: ${warning}`);
  }
}

/** Moves the ends, four times in each length, until the signal stops it. It warns and never throws. */
export async function renewFreezes(call: Call, renewed: RenewedFreezes, done: AbortSignal): Promise<void> {
  const renew = async (freeze: Freeze) => {
    const { owner, repository, id } = freeze;
    const end = endOf(call.world, renewed);
    freeze.ends.push(end);
    const path = '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}';
    await renewed.service.patch(path, { owner, repository, freeze_id: id }, { end });
    freeze.until = instantOf(end);
  };
  for (;;) {
    const isDone = await call.world.delay(renewed.length / 4, done).then(
      () => false,
      () => true,
    );
    if (isDone) return;
    await pLimit(most).map([...renewed.freezes], (freeze) =>
      changeUnlessOthersDid(call, renewed, freeze, renew).catch(({ message }: Error) =>
        call.output.note(`The freeze of ${nameOf(freeze)} could not be renewed: ${message}`),
      ),
    );
  }
}

/** Ends the freezes that are left. It warns and never throws, because the freezes end by themselves. */
export async function endFreezes(call: Call, renewed: RenewedFreezes, reason: string): Promise<void> {
  const end = (freeze: Freeze) => endItem(renewed.service, { kind: 'freeze', ...freeze }, reason);
  const minutes = Math.ceil(renewed.length / 60_000);
  await pLimit(most).map(renewed.freezes.splice(0), (freeze) =>
    changeUnlessOthersDid(call, renewed, freeze, end).catch(({ message }: Error) =>
      call.output.note(
        `The freeze of ${nameOf(freeze)} could not be ended, so it ends by itself within ${minutes} minutes: ${message}`,
      ),
    ),
  );
}

/** Changes a freeze unless somebody else ended or moved it. Their change counts, and the freeze is no longer renewed. */
async function changeUnlessOthersDid(
  call: Call,
  renewed: RenewedFreezes,
  freeze: Freeze,
  change: (freeze: Freeze) => Promise<unknown>,
): Promise<void> {
  const { owner, repository, id, ends, until } = freeze;
  const path = '/repos/{owner}/{repository}/scheduled_freeze';
  const { scheduled_freezes } = await renewed.service.get(path, { owner, repository });
  const now = scheduled_freezes.find((each) => each.id === id);
  if (now && ends.includes(now.end ?? '')) return void (await change(freeze));
  const isRunning = renewed.freezes.includes(freeze);
  renewed.freezes = renewed.freezes.filter((each) => each !== freeze);
  if (now) {
    const { end, timezone: zone } = now;
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
    await createFreezes(call, renewed, [{ owner, repository }]);
  }
}

const instantOf = (end: string): number => toInstant(end, timezone, 'end').getTime();

const endOf = ({ now }: Call['world'], { length }: RenewedFreezes): string =>
  toLocalTime(new Date(now() + length), timezone);
