import { type CommandCall, command, type CommandSpec, type OptionSpec, ownerCommand } from '../command.ts';
import { nameFromReasons } from '../../plans/plan-name.ts';
import { endItem, findItem } from '../freezing/items.ts';
import { showPlanPreview, printPlan } from '../freezing/preview.ts';
import type { Schemas } from '../service/service.ts';
import { type ExitCode, misused } from '../stop.ts';
import { readOwner } from '../target.ts';
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
import { move, skip } from './plan-occurrences.ts';

type PlanOfService = Schemas['FreezePlan'];
type Where = { in?: string };
type Recurring = { rule?: string; notOn?: string[]; lastDate?: string };
type Following = { source?: string; title?: string[] };
type Wanted = WindowOptions &
  ConditionOptions &
  HoldOptions &
  Recurring &
  Following & {
    message?: string;
    name?: string;
    include?: string[];
    except?: string[];
    publicReason?: string;
  };

const where: OptionSpec = ['--in <owner>', 'the owner of the plan, if this machine has not seen it'];
const wantedOptions: OptionSpec[] = [
  ...windowOptions,
  ['--rule <rrule>', 'how the plan repeats: an RRULE (RFC 5545), such as FREQ=WEEKLY;BYDAY=FR'],
  ['--not-on <date>', 'with --rule: a date on which no freeze begins; repeat for more', 'many'],
  ['--last-date <date>', 'with --rule: the last date on which a freeze may begin'],
  ['--source <url>', 'the calendar to follow, instead of times: the address of an iCalendar file'],
  ['--title <glob>', 'with --source: follow the events with this title only; repeat for more', 'many'],
  ['--include <glob>', 'the repositories to freeze; repeat for more', 'many'],
  ['--except <glob>', 'the repositories to exclude; repeat for more', 'many'],
  ...conditionOptions,
  ...holdOptions,
  publicReasonOption,
];

const listPlansCommand = ownerCommand<object>({
  usage: 'list <owner>',
  summary: 'list the plans of an owner that are not over',
  examples: [['holdfast plans list acme', 'See the plans and their IDs']],
  async run({ output, world, owner, service, memory }) {
    const { freeze_plans } = await service.get('/freeze_plans/{owner}', { owner });
    memory.save(freeze_plans.map(({ id }) => ({ kind: 'plan', id, owner, repository: null })));
    const { describeMoment } = await import('../times.ts');
    output.table(
      ['NAME', 'REPOSITORIES', 'NEXT', 'REPEATS', 'ID'],
      freeze_plans.map(
        ({ id, name, repositories_matched, next_occurrences: [next], recurrence, source, timezone }) => [
          ...[name, String(repositories_matched)],
          next ? describeMoment(Date.parse(next.starts_at), timezone, world.zone) : 'none',
          ...[source ? 'by a calendar' : (recurrence?.rule ?? 'once'), id],
        ],
      ),
    );
    if (freeze_plans.length === 0) output.line(`${owner} has no plans.`);
    output.json({ freeze_plans });
  },
});

const show = command<Where, [id: string]>({
  usage: 'show <id>',
  summary: 'show a plan and when it freezes next',
  options: [where],
  examples: [['holdfast plans show 0b7d1c57-4a0c-4f0e-8d5e-0f1b7f0a1f6e', 'See the next ten occurrences']],
  async run(call, options, id) {
    const connection = await call.connect();
    const { owner } = await findItem(connection, id, ['plan'], options.in);
    const plan = await connection.service.get('/freeze_plans/{owner}/{plan_id}', { owner, plan_id: id });
    await printPlan(call, plan);
  },
});

const create = command<Wanted & { message: string; dryRun?: true }, [owner: string]>({
  usage: 'create <owner>',
  summary: 'plan freezes of many repositories, once or repeatedly',
  options: [
    ['-m, --message <reason>', 'the reason, which the status of each pull request shows', 'required'],
    ['--name <name>', 'the name of the plan (the first line of the reason)'],
    ...wantedOptions,
    ['--dry-run', 'show when it would freeze and which pull requests it would block, and change nothing'],
  ],
  examples: [
    [
      'holdfast plans create acme --name "Year end" -m "Books are closed" --from "$(date +%Y)-12-24T18:00" --until "$(($(date +%Y) + 1))-01-02T08:00" --zone Europe/Paris --rule FREQ=YEARLY --not-on "$(($(date +%Y) + 2))-12-24"',
      'Freeze all repositories at the end of each year, except of the one after next',
    ],
    [
      'holdfast plans create acme -m "Weekend" --include "web-*" --from "fri 18:00" --until "mon 08:00" --rule "FREQ=WEEKLY;BYDAY=FR" --dry-run',
      'See what each weekend would block',
    ],
    [
      'holdfast plans create acme -m "Public holiday" --source https://example.com/holidays.ics --title "*holiday*" --zone Europe/Paris',
      'Freeze on the holidays of a calendar',
    ],
  ],
  async run(call, options, text) {
    const owner = readOwner(text);
    const times =
      options.source === undefined ? await windowIn(call, options, owner) : followingIn(call, options);
    const { service, memory } = await call.connect();
    const { include = ['*'], message: reason } = options;
    const body = {
      ...changesIn(options),
      name: options.name ?? nameFromReasons({ reason, publicReason: options.publicReason }),
      reason,
      repositories: { include, exclude: options.except },
      ...times,
    };
    if (options.dryRun) return showPlanPreview(call, service, owner, body);
    const plan = await service.post('/freeze_plans/{owner}', { owner }, body);
    memory.save([{ kind: 'plan', id: plan.id, owner, repository: null }]);
    await printPlan(call, plan);
  },
});

/** The times of a new plan. */
async function windowIn({ world, output }: CommandCall, options: Wanted, owner: string) {
  const { readTimeWindow: readWindow, describeWindow } = await import('../times.ts');
  const window = readWindow(options, world);
  const again = options.rule === undefined ? '' : `, repeating by ${options.rule}`;
  output.note(`Planning freezes of ${owner} ${describeWindow(window, world.zone)}${again}.`);
  return { start: window.start, end: window.end, timezone: window.timezone };
}

/** The zone of a new plan that follows a calendar. */
function followingIn({ world }: CommandCall, { zone, from, until, for: length, rule }: Wanted) {
  if ([from, until, length, rule].some((option) => option !== undefined))
    throw misused('--source has the times of the calendar. Leave out --from, --until, --for and --rule.');
  return { start: null, end: null, timezone: zone ?? world.zone };
}

const update = command<Wanted & Where & { once?: true }, [id: string]>({
  usage: 'update <id>',
  summary: 'change the settings of a plan that you name',
  options: [
    ['-m, --message <reason>', 'another reason'],
    ['--name <name>', 'another name'],
    ...wantedOptions,
    ['--once', 'stop repeating the plan'],
    where,
  ],
  examples: [
    ['holdfast plans update 0b7d1c57-4a0c-4f0e-8d5e-0f1b7f0a1f6e --except "docs-*"', 'Exclude repositories'],
  ],
  async run(call, options, id) {
    if (options.for !== undefined && options.from === undefined)
      throw misused(
        'Use --until, or --from with --for. To move an end by a length of time, use holdfast extend.',
      );
    const connection = await call.connect();
    const { owner } = await findItem(connection, id, ['plan'], options.in);
    const path = '/freeze_plans/{owner}/{plan_id}';
    const params = { owner, plan_id: id };
    const plan = await connection.service.get(path, params);
    const times = await timesIn(call, options, plan);
    const body = {
      ...changesIn({ source: options.title && plan.source?.url, ...options }),
      ...times,
      ...(options.once && { recurrence: null }),
    };
    if (Object.keys(body).length === 0)
      throw misused('Name what to change. See holdfast plans update --help.');
    await printPlan(call, await connection.service.patch(path, params, body));
  },
});

/** The named times, in the current or new zone of the plan. */
async function timesIn({ world, output }: CommandCall, options: Wanted, plan: PlanOfService) {
  const { from, until, for: length, zone } = options;
  if (from === undefined && until === undefined) return zone === undefined ? {} : { timezone: zone };
  const { readTimeWindow: readWindow, describeMoment } = await import('../times.ts');
  const window = readWindow({ from, until, for: length, zone: zone ?? plan.timezone }, world);
  const { start, end, startsAt, endsAt, timezone } = window;
  const shown = (at: number) => describeMoment(at, timezone, world.zone);
  if (from !== undefined) output.note(`It begins at ${shown(startsAt)}.`);
  if (endsAt !== null) output.note(`It ends at ${shown(endsAt)}.`);
  return { ...(from !== undefined && { start }), ...(endsAt !== null && { end }), ...(zone && { timezone }) };
}

const removePlan = command<Where & { message: string }, [id: string]>({
  usage: 'delete <id>',
  summary: 'delete a plan, and end its freezes',
  options: [['-m, --message <reason>', 'the reason, which the audit log keeps', 'required'], where],
  examples: [
    ['holdfast plans delete 0b7d1c57-4a0c-4f0e-8d5e-0f1b7f0a1f6e -m "Books are open"', 'End a plan'],
  ],
  async run({ output, connect }, { message, in: where }, id) {
    const { service, memory } = await connect();
    const plan = await findItem({ service, memory }, id, ['plan'], where);
    await endItem(service, plan, message);
    memory.forget(id);
    output.line(`Deleted plan ${id} of ${plan.owner}.`);
    output.json({ deleted: id });
  },
});

const progress = command<Where, [id: string]>({
  usage: 'progress <id>',
  summary:
    'show how many pull requests GitHub blocks for a plan; exit with 1 if a repository is not enforced',
  options: [where],
  examples: [
    [
      'holdfast plans progress 0b7d1c57-4a0c-4f0e-8d5e-0f1b7f0a1f6e',
      'See how many pull requests are blocked',
    ],
  ],
  async run({ output, connect }, options, id): Promise<ExitCode> {
    const connection = await connect();
    const { showPlanProgress } = await import('../freezing/wait-until-held.ts');
    const { owner } = await findItem(connection, id, ['plan'], options.in);
    const path = '/freeze_plans/{owner}/{plan_id}/enforcement';
    const found = await connection.service.get(path, { owner, plan_id: id });
    return showPlanProgress(output, owner, found);
  },
});

export const plans: CommandSpec = {
  usage: 'plans',
  summary: 'manage freezes that repeat, and freezes of many repositories',
  below: [listPlansCommand, show, create, update, skip, move, removePlan, progress],
};

/** The fields that the options name, except for the times. */
function changesIn(options: Wanted) {
  assertTogether(options);
  const { name, message, publicReason, include, except, rule, notOn, lastDate, source, title } = options;
  return {
    ...given({
      name,
      reason: message,
      public_reason: publicReason,
      repositories: include || except ? given({ include, exclude: except }) : undefined,
      recurrence: rule === undefined ? undefined : { rule, except: notOn ?? [], until: lastDate ?? null },
      source: source === undefined ? undefined : { url: source, titles: title ?? null },
    }),
    ...conditionsIn(options),
    ...holdsIn(options),
  };
}

function assertTogether({ rule, notOn, lastDate, source, title }: Wanted): void {
  if (rule === undefined && (notOn || lastDate !== undefined))
    throw misused('--not-on and --last-date need --rule.');
  if (source === undefined && title)
    throw misused('--title needs --source, or a plan that follows a calendar.');
}

/** Those of some fields that have a value. */
const given = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
