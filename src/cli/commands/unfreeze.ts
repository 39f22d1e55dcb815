import { once } from 'node:events';
import pLimit from 'p-limit';
import { type CommandCall, command, type ServiceConnection } from '../command.ts';
import {
  requestsAtOnce,
  endItem,
  findItem,
  isOngoingItem,
  type ListedFreeze,
  fetchFreezes,
} from '../freezing/items.ts';
import type { Item } from '../memory.ts';
import type { ServiceClient } from '../service/service.ts';
import { misused, refusedBy, CommandStop } from '../stop.ts';
import { isId, nameOfTarget, type OwnerOrRepository, readPlace } from '../target.ts';
import { endOptions } from './freeze-options.ts';

type Options = { message: string; all?: true; yes?: true; in?: string };

export const unfreezeCommand = command<Options, [targets: string[]]>({
  usage: 'unfreeze <targets...>',
  summary: 'end freezes: those that you created here, those that you name, or all ongoing ones',
  options: [
    ['-m, --message <reason>', 'the reason, which the audit log keeps', 'required'],
    ['--all', 'end all ongoing freezes, no matter who created them, after it asked you'],
    ['--yes', 'with --all: end them without a question, as in a script'],
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
    [
      'holdfast unfreeze acme --all --yes -m "Over"',
      'End all ongoing freezes in every repository of an owner, without a question',
    ],
  ],
  async run(call, options, targets) {
    if (options.all && targets.some(isId))
      throw misused('With --all, name an owner or repositories, not IDs.');
    const connection = await call.connect();
    const items = new Map<string, Item>();
    for (const target of targets)
      for (const item of await itemsOf(call, connection, target, targets, options)) items.set(item.id, item);
    if (options.all && !options.yes && items.size > 0) await confirm(call, [...items.values()]);
    const ended: Item[] = [];
    for (const item of items.values()) {
      if (await end(connection.service, item, options.message)) {
        ended.push(item);
        call.output.line(`Ended ${item.kind} ${item.id} of ${nameOfTarget(item)}.`);
      }
      connection.memory.forget(item.id);
    }
    if (ended.length === 0) call.output.line('No freeze was active.');
    call.output.json({
      ended: ended.map((item) => ({ kind: item.kind, id: item.id, in: nameOfTarget(item) })),
    });
  },
});

/** Lists what would end, and asks. @throws Stop if the answer is not yes, or if nobody can be asked. */
async function confirm({ world, output }: CommandCall, items: Item[]): Promise<void> {
  for (const item of items) output.note(`${item.kind} ${item.id} of ${nameOfTarget(item)}`);
  const what = items.length === 1 ? 'this freeze' : `these ${items.length} freezes and plans`;
  if (!world.input.isTTY) throw misused(`Nothing was ended. To end ${what} without a question, add --yes.`);
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: world.input, output: world.err });
  try {
    // Ctrl-D closes it without an answer.
    const closed = once(lines, 'close').then(() => '');
    const answer = await Promise.race([lines.question(`End ${what}? [y/N] `), closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw refusedBy('Nothing was ended.');
  } finally {
    lines.close();
  }
}

/** What a target means. @param targets all named targets. */
async function itemsOf(
  { world }: CommandCall,
  connection: ServiceConnection,
  target: string,
  targets: string[],
  { all, in: where }: Options,
): Promise<Item[]> {
  if (isId(target)) return [await findItem(connection, target, ['freeze', 'plan'], where)];
  const place = readPlace(target);
  if (all) return ongoingItems(connection.service, place, world.now());
  const made = [
    ...connection.memory.made(place),
    ...(place.repository === null ? [] : await madeWithOthers(connection, targets, place)),
  ];
  if (made.length > 0) return made;
  throw refusedBy(
    `No active freeze in ${target} was created from this machine. Run holdfast list ${target} to see the IDs, or add --all.`,
  );
}

/**
 * What `holdfast freeze` made on this machine in a repository together with others: the plan, if all of its
 * repositories are named here too, or else its freezes in this repository.
 */
async function madeWithOthers(
  { service, memory }: ServiceConnection,
  targets: string[],
  { owner, repository }: OwnerOrRepository,
): Promise<Item[]> {
  const plans = memory.made({ owner, repository: null }).filter(({ kind }) => kind === 'plan');
  if (plans.length === 0) return [];
  const places = targets.filter((target) => !isId(target)).map(readPlace);
  const named = new Set(places.map((place) => nameOfTarget(place).toLowerCase()));
  const freezes = await fetchFreezes(service, { owner, repository });
  const items = await pLimit(requestsAtOnce).map(plans, async (plan): Promise<Item[]> => {
    const own = freezes.filter(({ freeze }) => freeze.plan_id === plan.id);
    if (own.length === 0) return [];
    const path = '/freeze_plans/{owner}/{plan_id}';
    const { repositories } = await service.get(path, { owner, plan_id: plan.id });
    const isWhole = repositories.include.every((name) => named.has(`${owner}/${name}`.toLowerCase()));
    return isWhole ? [plan] : own.map(namedItemOf);
  });
  return items.flat();
}

const namedItemOf = ({ freeze: { id }, owner, repository }: ListedFreeze): Item => ({
  kind: 'freeze',
  id,
  owner,
  repository,
});

/** The ongoing freezes. A plan that does not repeat ends as a whole; of others, only these occurrences end. */
async function ongoingItems(service: ServiceClient, place: OwnerOrRepository, now: number): Promise<Item[]> {
  const freezes = (await fetchFreezes(service, place)).filter((each) => isOngoingItem(each, now));
  const { owner, repository } = place;
  const plans =
    repository === null ? (await service.get('/freeze_plans/{owner}', { owner })).freeze_plans : [];
  const whole = new Set(
    plans.filter(({ recurrence, source }) => recurrence === null && !source).map(({ id }) => id),
  );
  const items = freezes.map((listed): Item => {
    const { plan_id } = listed.freeze;
    return plan_id !== undefined && whole.has(plan_id)
      ? { kind: 'plan', id: plan_id, owner, repository: null }
      : namedItemOf(listed);
  });
  return [...items.filter(({ kind }) => kind === 'plan'), ...items.filter(({ kind }) => kind === 'freeze')];
}

/** @returns whether it still existed. */
async function end(service: ServiceClient, item: Item, reason: string): Promise<boolean> {
  try {
    await endItem(service, item, reason);
    return true;
  } catch (error) {
    // A freeze that ended by itself needs nothing.
    if (error instanceof CommandStop && error.status === 404) return false;
    throw error;
  }
}

type ExtendOptions = { for?: string; until?: string; in?: string };

export const extendCommand = command<ExtendOptions, [id: string]>({
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
    const { end: before, timezone } = await readItems(connection.service, item);
    if (before === null && length !== undefined)
      throw refusedBy('It has no end that --for could move. Use --until to set an end.');
    const { later, readMoment } = await import('../../time/moment.ts');
    const { describeMoment, readLength, ways } = await import('../times.ts');
    const { toInstant } = await import('../../time/local-time.ts');
    const reading = { now: world.now(), zone: timezone, isUntil: true, ways };
    const end =
      length === undefined
        ? readMoment(until!, reading)
        : later(toInstant(before!, timezone, 'end').getTime(), readLength(length), reading);
    output.note(`Moving the end to ${describeMoment(end.at, timezone, world.zone)}.`);
    const after = await moveEnd(connection.service, item, end.local);
    for (const warning of after.warnings ?? []) output.note(`Warning: ${warning}`);
    output.line(`Moved the end of ${item.kind} ${id} of ${nameOfTarget(item)}.`);
    output.json({ kind: item.kind, in: nameOfTarget(item), [item.kind]: after });
  },
});

async function readItems(service: ServiceClient, item: Item) {
  const { kind, id, owner, repository } = item;
  if (kind === 'plan') {
    const plan = await service.get('/freeze_plans/{owner}/{plan_id}', { owner, plan_id: id });
    if (plan.recurrence !== null || plan.source)
      throw refusedBy(
        'This plan repeats, so it has many ends. Extend one of its freezes. To find their IDs, use holdfast list.',
      );
    return plan;
  }
  const path = '/repos/{owner}/{repository}/scheduled_freeze';
  const { scheduled_freezes } = await service.get(path, { owner, repository: repository! });
  const freeze = scheduled_freezes.find((each) => each.id === id.toLowerCase());
  if (!freeze) throw refusedBy(`Freeze ${id} of ${nameOfTarget(item)} is over, or it was deleted.`);
  return freeze;
}

const moveEnd = (service: ServiceClient, { kind, id, owner, repository }: Item, end: string) =>
  kind === 'plan'
    ? service.patch('/freeze_plans/{owner}/{plan_id}', { owner, plan_id: id }, { end })
    : service.patch(
        '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}',
        { owner, repository: repository!, freeze_id: id },
        { end },
      );
