import { command } from '../command.ts';
import { placeOf } from '../freezing/find-place.ts';
import type { Freeze, Plan } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { exitCodes, misused, refused } from '../stop.ts';
import type { Place } from '../memory/seen.ts';
import { nameOf } from '../target.ts';
import { endOptions } from './freeze-options.ts';

type Options = { for?: string; until?: string; in?: string };

export const extend = command<Options, [id: string]>({
  usage: 'extend <id>',
  summary: 'move the end of a freeze or a plan',
  options: [
    ['--for <length>', 'how much later it ends: 30m, 2h, 1d'],
    ...endOptions.slice(1),
    ['--in <place>', 'where the freeze or plan is, if this machine has not seen it: acme or acme/web'],
  ],
  examples: [
    ['holdfast extend bf0fbf0b-aa94-4bb6-a379-12b701f7db78 --for 1h', 'Extend by one hour'],
    ['holdfast extend bf0fbf0b-aa94-4bb6-a379-12b701f7db78 --until "tomorrow 08:00"', 'Set another end'],
  ],
  async run(call, { for: length, until, in: where }, id) {
    if ((length === undefined) === (until === undefined)) throw misused('Write --for or --until.');
    const { world, output } = call;
    const connected = await call.connect();
    const { service } = connected;
    const place = await placeOf(connected, id, ['freeze', 'plan'], where);
    const before = await read(service, place, id);
    if (before.end === null && length !== undefined)
      throw refused('It has no end that --for could move. Use --until to set an end.');
    const { later, readMoment } = await import('../../time/moment.ts');
    const { describeMoment, readLength, ways } = await import('../times/window.ts');
    const { toInstant } = await import('../../time/local-time.ts');
    const reading = { now: world.now(), zone: before.timezone, ways };
    const end =
      length === undefined
        ? readMoment(until!, reading)
        : later(toInstant(before.end!, before.timezone, 'end').getTime(), readLength(length), reading);
    output.note(`Moving the end to ${describeMoment(end.at, before.timezone, world.zone)}.`);
    const after = await service.patch<Freeze | Plan>(pathOf(place, id), { end: end.local });
    for (const warning of after.warnings ?? []) output.note(`Warning: ${warning}`);
    output.line(`Moved the end of ${place.kind} ${id} of ${nameOf(place)}.`);
    output.json({ kind: place.kind, in: nameOf(place), [place.kind]: after });
    return exitCodes.done;
  },
});

const pathOf = ({ kind, owner, repository }: Place, id: string): string =>
  kind === 'plan' ? v1('freeze_plans', owner, id) : v1('repos', owner, repository!, 'scheduled_freeze', id);

async function read(service: Service, place: Place, id: string): Promise<Freeze | Plan> {
  if (place.kind === 'plan') {
    const plan = await service.get<Plan>(pathOf(place, id));
    if (plan.recurrence !== null)
      throw refused(
        'This plan repeats, so it has many ends. Extend one of its freezes. To find their IDs, use holdfast list.',
      );
    return plan;
  }
  const path = v1('repos', place.owner, place.repository!, 'scheduled_freeze');
  const { scheduled_freezes } = await service.get<{ scheduled_freezes: Freeze[] }>(path);
  const found = scheduled_freezes.find((each) => each.id === id.toLowerCase());
  if (!found) throw refused(`Freeze ${id} of ${nameOf(place)} is over, or it was deleted.`);
  return found;
}
