import { atOnce } from '../at-once.ts';
import type { Call } from '../call.ts';
import { command } from '../command.ts';
import { type FreezeBody, type Frozen, planBody } from '../freezing/frozen.ts';
import type { Seen } from '../memory/seen.ts';
import type { Freeze, Plan } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { type ExitCode, exitCodes, misused, Stop } from '../stop.ts';
import { readPlace, type Repository } from '../target.ts';
import type { Window, WindowOptions } from '../times/window.ts';
import { conditionOptions, type ConditionOptions, conditionsIn, windowOptions } from './freeze-options.ts';

type Options = WindowOptions &
  ConditionOptions & {
    message: string;
    publicReason?: string;
    all?: true;
    except?: string[];
    wait?: true;
    timeout?: string;
    dryRun?: true;
  };

export const freeze = command<Options, [targets: string[]]>({
  usage: 'freeze <targets...>',
  summary: 'freeze one repository, several, or all repositories of an owner',
  options: [
    ['-m, --message <reason>', 'the reason, which the status of each pull request shows', 'required'],
    ...windowOptions,
    ...conditionOptions,
    ['--all', 'freeze every repository of the owner, including future ones'],
    ['--except <glob>', 'with --all: exclude these repositories; repeat for more', 'many'],
    ['--public-reason <reason>', 'statuses and public pages show this instead of the reason'],
    ['--wait', 'wait until GitHub holds the pull requests; exit with 1 if a branch is not enforced'],
    ['--timeout <length>', 'the longest time to wait (10m)'],
    ['--dry-run', 'show what would be held, and change nothing'],
  ],
  examples: [
    ['holdfast freeze acme/web --for 2h -m "INC-4711"', 'Freeze one repository for the next two hours'],
    [
      'holdfast freeze acme --all --for 2h -m "INC-4711" --wait',
      'Freeze all repositories, and wait until GitHub holds the pull requests',
    ],
    [
      'holdfast freeze acme/web --from "fri 18:00" --until "mon 08:00" --zone Europe/Paris --exclude label=hotfix -m "Weekend"',
      'Freeze a weekend, except for hotfixes',
    ],
    [
      'holdfast freeze acme/web acme/api -m "Release" --dry-run',
      'See what a freeze of two repositories would hold',
    ],
  ],
  async run(call, options, targets) {
    const frozen = readFrozen(targets, options);
    const { describeWindow, readMilliseconds, readWindow } = await import('../times/window.ts');
    const longest = readMilliseconds(options.timeout ?? '10m');
    const window = readWindow(options, call.world);
    if (options.wait && window.start !== null)
      throw misused('--wait needs a freeze that begins now. Leave out --wait or --from.');
    const { service, seen } = await call.connect();
    const verb = options.dryRun ? 'Would freeze' : 'Freezing';
    call.output.note(`${verb} ${targets.join(', ')} ${describeWindow(window, call.world.zone)}.`);
    const body = bodyOf(options, window);
    if (options.dryRun) return (await import('../freezing/preview.ts')).preview(call, service, frozen, body);
    const made = await make(service, seen, frozen, body);
    for (const warning of made.warnings) call.output.note(`Warning: ${warning}`);
    if (options.wait) return waitFor(call, service, made, longest);
    say(call, made);
    call.output.json(made.shown);
  },
});

function readFrozen(targets: string[], { all, except = [] }: Options): Frozen {
  const places = targets.map(readPlace);
  const owners = new Map(places.map(({ owner }) => [owner.toLowerCase(), owner]));
  const [owner = '', ...others] = owners.values();
  if (others.length > 0)
    throw misused('Name repositories of one owner. Freeze those of another owner with a second command.');
  const names = places.flatMap(({ repository }) => repository ?? []);
  if (all) {
    if (names.length > 0) throw misused(`Name the owner with --all: holdfast freeze ${owner} --all.`);
    return { kind: 'plan', owner, repositories: { include: ['*'], exclude: except } };
  }
  if (except.length > 0) throw misused('--except goes with --all.');
  if (names.length < places.length)
    throw misused(`Name repositories, such as ${owner}/web, or add --all for every repository of ${owner}.`);
  return names.length === 1
    ? { kind: 'freeze', owner, repository: names[0]! }
    : { kind: 'plan', owner, repositories: { include: names, exclude: [] } };
}

const bodyOf = (options: Options, { start, end, timezone }: Window): FreezeBody => ({
  reason: options.message,
  start,
  end,
  timezone,
  ...(options.publicReason !== undefined && { public_reason: options.publicReason }),
  ...conditionsIn(options),
});

/** @property shown what is printed as JSON. */
type Made = { id: string; warnings: string[]; notEnforced: string[]; frozen: Frozen; shown: object };

async function make(service: Service, seen: Seen, frozen: Frozen, body: FreezeBody): Promise<Made> {
  const { owner } = frozen;
  if (frozen.kind === 'freeze') {
    const { repository } = frozen;
    const made = await service.post<Freeze>(v1('repos', owner, repository, 'scheduled_freeze'), body);
    seen.keep([{ id: made.id, kind: 'freeze', owner, repository, made: true }]);
    const shown = { kind: 'freeze', repository: `${owner}/${repository}`, freeze: made };
    return { id: made.id, warnings: made.warnings ?? [], notEnforced: [], frozen, shown };
  }
  const made = await service.post<Plan>(v1('freeze_plans', owner), planBody(body, frozen.repositories));
  seen.keep([{ id: made.id, kind: 'plan', owner, repository: null, made: true }]);
  const missing = made.not_enforced.map((name) => `Nothing enforces freezes in ${name}.`);
  const warnings = [...(made.warnings ?? []), ...missing];
  const shown = { kind: 'plan', owner, plan: made };
  return { id: made.id, warnings, notEnforced: made.not_enforced, frozen, shown };
}

function say({ output }: Call, { id, frozen, shown }: Made): void {
  const what =
    frozen.kind === 'freeze'
      ? `${frozen.owner}/${frozen.repository}`
      : `${(shown as { plan: Plan }).plan.repositories_matched} repositories of ${frozen.owner}`;
  output.line(`Made ${frozen.kind} ${id} of ${what}.`);
  output.line(`End it with: holdfast unfreeze ${id} -m "…"`);
}

async function waitFor(call: Call, service: Service, made: Made, longest: number): Promise<ExitCode> {
  const { exitCodeOf, showHeld, waitUntilHeld } = await import('../freezing/wait-until-held.ts');
  say(call, made);
  const freezes = await freezesOf(service, made).catch((error: unknown) => stopAfter(made, error));
  const held = await waitUntilHeld(call, service, freezes, longest).catch((error) => stopAfter(made, error));
  showHeld(call, held);
  call.output.json({ ...made.shown, held });
  return made.notEnforced.length > 0 ? exitCodes.refused : exitCodeOf(held);
}

/** The freeze exists, so print its ID, even if something about it is unknown. */
function stopAfter({ shown }: Made, error: unknown): never {
  if (error instanceof Stop) error.done = shown;
  throw error;
}

async function freezesOf(service: Service, { id, frozen }: Made): Promise<(Repository & { id: string })[]> {
  if (frozen.kind === 'freeze') return [{ owner: frozen.owner, repository: frozen.repository, id }];
  const { listFreezes } = await import('../freezing/list-freezes.ts');
  const { owner, repositories } = frozen;
  // Only admins of the owner may list all repositories. Other people named each one.
  const names = repositories.include.includes('*') ? [null] : repositories.include;
  const lists = await atOnce(names, 6, (repository) => listFreezes(service, { owner, repository }));
  return lists
    .flat()
    .filter(({ freeze }) => freeze.plan_id === id)
    .map(({ owner, repository, freeze }) => ({ owner, repository, id: freeze.id }));
}
