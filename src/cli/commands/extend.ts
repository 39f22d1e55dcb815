import { command } from '../command.ts';
import { findItem } from '../freezing/items.ts';
import type { Item } from '../memory.ts';
import type { Service } from '../service/service.ts';
import { misused, refused } from '../stop.ts';
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
    const connection = await call.connect();
    const item = await findItem(connection, id, ['freeze', 'plan'], where);
    const { end: before, timezone } = await read(connection.service, item);
    if (before === null && length !== undefined)
      throw refused('It has no end that --for could move. Use --until to set an end.');
    const { later, readMoment } = await import('../../time/moment.ts');
    const { describeMoment, readLength, ways } = await import('../times.ts');
    const { toInstant } = await import('../../time/local-time.ts');
    const reading = { now: world.now(), zone: timezone, ways };
    const end =
      length === undefined
        ? readMoment(until!, reading)
        : later(toInstant(before!, timezone, 'end').getTime(), readLength(length), reading);
    output.note(`Moving the end to ${describeMoment(end.at, timezone, world.zone)}.`);
    const after = await moveEnd(connection.service, item, end.local);
    for (const warning of after.warnings ?? []) output.note(`Warning: ${warning}`);
    output.line(`Moved the end of ${item.kind} ${id} of ${nameOf(item)}.`);
    output.json({ kind: item.kind, in: nameOf(item), [item.kind]: after });
  },
});

async function read(service: Service, item: Item) {
  const { kind, id, owner, repository } = item;
  if (kind === 'plan') {
    const plan = await service.get('/freeze_plans/{owner}/{plan_id}', { owner, plan_id: id });
    if (plan.recurrence !== null || plan.source)
      throw refused(
        'This plan repeats, so it has many ends. Extend one of its freezes. To find their IDs, use holdfast list.',
      );
    return plan;
  }
  const path = '/repos/{owner}/{repository}/scheduled_freeze';
  const { scheduled_freezes } = await service.get(path, { owner, repository: repository! });
  const freeze = scheduled_freezes.find((each) => each.id === id.toLowerCase());
  if (!freeze) throw refused(`Freeze ${id} of ${nameOf(item)} is over, or it was deleted.`);
  return freeze;
}

const moveEnd = (service: Service, { kind, id, owner, repository }: Item, end: string) =>
  kind === 'plan'
    ? service.patch('/freeze_plans/{owner}/{plan_id}', { owner, plan_id: id }, { end })
    : service.patch(
        '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}',
        { owner, repository: repository!, freeze_id: id },
        { end },
      );
