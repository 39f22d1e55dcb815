import pLimit from 'p-limit';
import { requestsAtOnce, fetchFreezes } from '../freezing/items.ts';
import { nameFromReasons } from '../../plans/plan-name.ts';
import { showFreezePreview, showPlanPreview } from '../freezing/preview.ts';
import { type CommandCall, command } from '../command.ts';
import type { Item } from '../memory.ts';
import type { Schemas, ServiceClient } from '../service/service.ts';
import { type ExitCode, exitCodes, misused, CommandStop } from '../stop.ts';
import { isGlob, nameOfTarget, readGlob, type RepositoryTarget } from '../target.ts';
import type { WindowOptions } from '../times.ts';
import {
  conditionOptions,
  type ConditionOptions,
  conditionsIn,
  holdOptions,
  type HoldOptions,
  holdsIn,
  publicReasonOption,
  windowOptions,
} from './freeze-options.ts';

type Options = WindowOptions &
  ConditionOptions &
  HoldOptions & {
    message: string;
    publicReason?: string;
    all?: true;
    except?: string[];
    wait?: true;
    timeout?: string;
    dryRun?: true;
  };

export const freezeCommand = command<Options, [targets: string[]]>({
  usage: 'freeze <targets...>',
  summary: 'freeze one repository, several, or all repositories of an owner',
  options: [
    ['-m, --message <reason>', 'the reason, which the status of each pull request shows', 'required'],
    ...windowOptions,
    ...conditionOptions,
    ...holdOptions,
    ['--all', 'freeze every repository of the owner, including future ones'],
    ['--except <glob>', 'with --all or a pattern: exclude these repositories; repeat for more', 'many'],
    publicReasonOption,
    ['--wait', 'wait until GitHub blocks the pull requests; exit with 1 if a branch is not enforced'],
    ['--timeout <length>', 'the longest time to wait (10m)'],
    ['--dry-run', 'show what would be blocked, and change nothing'],
  ],
  examples: [
    ['holdfast freeze acme/web --for 2h -m "INC-4711"', 'Freeze one repository for the next two hours'],
    [
      'holdfast freeze acme --all --for 2h -m "INC-4711" --wait',
      'Freeze all repositories, and wait until GitHub blocks the pull requests',
    ],
    [
      'holdfast freeze acme/web --from "fri 18:00" --until "mon 08:00" --zone Europe/Paris --exclude label=hotfix -m "Weekend"',
      'Freeze a weekend, except for hotfixes',
    ],
    [
      "holdfast freeze 'acme/api-*' --for 2h -m INC-4711",
      'Freeze every repository with such a name, including future ones',
    ],
    [
      'holdfast freeze acme/web acme/api -m "Release" --dry-run',
      'See what a freeze of two repositories would block',
    ],
  ],
  async run(call, options, targets) {
    const frozen = readTargets(targets, options);
    const { describeWindow, readMilliseconds, readTimeWindow: readWindow } = await import('../times.ts');
    const longest = readMilliseconds(options.timeout ?? '10m');
    const window = readWindow(options, call.world);
    const { start, end, timezone } = window;
    if (options.wait && start !== null)
      throw misused('--wait needs a freeze that begins now. Leave out --wait or --from.');
    const { service, memory } = await call.connect();
    const verb = options.dryRun ? 'Would freeze' : 'Freezing';
    call.output.note(`${verb} ${targets.join(', ')} ${describeWindow(window, call.world.zone)}.`);
    const { message: reason, publicReason: public_reason } = options;
    const freeze = {
      reason,
      start,
      end,
      timezone,
      public_reason,
      ...conditionsIn(options),
      ...holdsIn(options),
    };
    if (options.dryRun) {
      return isPlan(frozen)
        ? showPlanPreview(call, service, frozen.owner, planOf(freeze, frozen))
        : showFreezePreview(call, service, frozen, freeze);
    }
    const made = await make(service, frozen, freeze);
    memory.save([{ ...made.item, made: true }]);
    for (const warning of made.warnings) call.output.note(`Warning: ${warning}`);
    const { kind, id } = made.item;
    call.output.line(`Created ${kind} ${id} of ${made.of}.`);
    call.output.line(`End it with: holdfast unfreeze ${id} -m "…"`);
    if (options.wait) return waitFor(call, service, made, longest);
    call.output.json(made.shown);
  },
});

/** What to freeze: one repository with a freeze, more with a plan. */
type Several = { owner: string; include: string[]; exclude: string[] };

const isPlan = (frozen: RepositoryTarget | Several): frozen is Several => 'include' in frozen;

function readTargets(targets: string[], { all, except = [] }: Options): RepositoryTarget | Several {
  const places = targets.map(readGlob);
  const owners = new Map(places.map(({ owner }) => [owner.toLowerCase(), owner]));
  const [owner = '', ...others] = owners.values();
  if (others.length > 0)
    throw misused('Name repositories of one owner. Freeze those of another owner with a second command.');
  const names = places.flatMap(({ repository }) => repository ?? []);
  if (all) {
    if (names.length > 0) throw misused(`Name the owner with --all: holdfast freeze ${owner} --all.`);
    return { owner, include: ['*'], exclude: except };
  }
  if (except.length > 0 && !names.some(isGlob))
    throw misused('--except goes with --all, or with a pattern such as acme/web-*.');
  if (names.length < places.length)
    throw misused(`Name repositories, such as ${owner}/web, or add --all for every repository of ${owner}.`);
  const isOne = names.length === 1 && !isGlob(names[0]!);
  return isOne ? { owner, repository: names[0]! } : { owner, include: names, exclude: except };
}

const planOf = (freeze: Schemas['NewScheduledFreeze'], { include, exclude }: Several) => ({
  name: nameFromReasons({ reason: freeze.reason, publicReason: freeze.public_reason }),
  repositories: { include, exclude },
  ...freeze,
});

/** @property of what it freezes, for people. @property shown what is printed as JSON. */
type Made = {
  item: Item;
  of: string;
  warnings: string[];
  frozen: RepositoryTarget | Several;
  shown: object;
  isEnforced: boolean;
};

async function make(
  service: ServiceClient,
  frozen: RepositoryTarget | Several,
  body: Schemas['NewScheduledFreeze'],
): Promise<Made> {
  const { owner } = frozen;
  if (isPlan(frozen)) {
    const plan = await service.post('/freeze_plans/{owner}', { owner }, planOf(body, frozen));
    const missing = plan.not_enforced.map((name) => `Nothing enforces freezes in ${name}.`);
    return {
      item: { kind: 'plan', id: plan.id, owner, repository: null },
      of: `${plan.repositories_matched} repositories of ${owner}`,
      warnings: [...(plan.warnings ?? []), ...missing],
      isEnforced: missing.length === 0,
      frozen,
      shown: { kind: 'plan', owner, plan },
    };
  }
  const freeze = await service.post('/repos/{owner}/{repository}/scheduled_freeze', frozen, body);
  return {
    item: { kind: 'freeze', id: freeze.id, ...frozen },
    of: nameOfTarget(frozen),
    warnings: freeze.warnings ?? [],
    isEnforced: true,
    frozen,
    shown: { kind: 'freeze', repository: nameOfTarget(frozen), freeze },
  };
}

async function waitFor(
  call: CommandCall,
  service: ServiceClient,
  made: Made,
  longest: number,
): Promise<ExitCode> {
  const { exitCodeOf, showHeld, waitUntilHeld } = await import('../freezing/wait-until-held.ts');
  try {
    const held = await waitUntilHeld(call, service, await freezesOf(service, made), longest);
    showHeld(call, held);
    call.output.json({ ...made.shown, held });
    return made.isEnforced ? exitCodeOf(held) : exitCodes.refused;
  } catch (error) {
    // The freeze exists, so print its ID, even if something about it is unknown.
    if (error instanceof CommandStop) error.done = made.shown;
    throw error;
  }
}

async function freezesOf(service: ServiceClient, { item: { id }, frozen }: Made) {
  if (!isPlan(frozen)) return [{ ...frozen, id }];
  const { owner, include } = frozen;
  // Only admins of the owner may list all repositories. Other people named each one.
  const names = include.some(isGlob) ? [null] : include;
  const lists = await pLimit(requestsAtOnce).map(names, (repository) =>
    fetchFreezes(service, { owner, repository }),
  );
  return lists
    .flat()
    .filter(({ freeze }) => freeze.plan_id === id)
    .map(({ owner, repository, freeze }) => ({ owner, repository, id: freeze.id }));
}
