import { type CommandCall, command, type OptionSpec } from '../command.ts';
import { findItem } from '../freezing/items.ts';
import { printPlan } from '../freezing/preview.ts';
import { misused } from '../stop.ts';
import { windowOptions } from './freeze-options.ts';
import type { WindowOptions } from '../times.ts';

type Where = { in?: string };

const where: OptionSpec = ['--in <owner>', 'the owner of the plan, if this machine has not seen it'];
const example = 'holdfast plans skip 0b7d1c57-4a0c-4f0e-8d5e-0f1b7f0a1f6e 2095-12-25T09:00';

export const skip = command<Where & { undo?: true }, [id: string, start: string]>({
  usage: 'skip <id> <start>',
  summary: 'skip one occurrence of a plan, which `plans show` lists by its start',
  options: [['--undo', 'put the skipped occurrence back'], where],
  examples: [
    [example, 'Do not freeze on 25 December'],
    [`${example} --undo`, 'Freeze on that day after all'],
  ],
  run: (call, { undo, in: owner }, id, start) =>
    change(call, { id, start, owner }, async () => ({ skip: undo === undefined })),
});

export const move = command<Where & WindowOptions, [id: string, start: string]>({
  usage: 'move <id> <start>',
  summary: 'move one occurrence of a plan, or change its end, in the time zone of the plan',
  options: [...windowOptions.filter(([flags]) => !flags.startsWith('--zone')), where],
  examples: [
    [
      'holdfast plans move 0b7d1c57-4a0c-4f0e-8d5e-0f1b7f0a1f6e "2095-12-16T09:00" --from "2095-12-17T09:00" --until "2095-12-17T18:00"',
      'Freeze on Saturday in the place of Friday',
    ],
  ],
  run: (call, { in: owner, ...options }, id, start) =>
    change(call, { id, start, owner }, async (zone) => {
      const { readTimeWindow: readWindow } = await import('../times.ts');
      if (options.from === undefined && options.until === undefined)
        throw misused('Write --from, --until or both. To leave the occurrence out, use holdfast plans skip.');
      const window = readWindow({ ...options, zone }, call.world);
      return { ...(window.start && { start: window.start }), ...(window.end && { end: window.end }) };
    }),
});

type Place = { id: string; start: string; owner: string | undefined };

/** @param wanted what to send, by the zone of the plan. */
async function change(
  call: CommandCall,
  { id, start, owner: given }: Place,
  wanted: (zone: string) => Promise<{ skip: boolean } | { start?: string; end?: string }>,
): Promise<undefined> {
  const connection = await call.connect();
  const { owner } = await findItem(connection, id, ['plan'], given);
  const params = { owner, plan_id: id };
  const { timezone } = await connection.service.get('/freeze_plans/{owner}/{plan_id}', params);
  const path = '/freeze_plans/{owner}/{plan_id}/occurrences/{start}';
  await printPlan(call, await connection.service.post(path, { ...params, start }, await wanted(timezone)));
  return undefined;
}
