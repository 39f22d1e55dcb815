import type { ConditionInput } from '../../conditions/ast.ts';
import { inOneLine } from '../../conditions/sentence.ts';
import {
  blocksMerges,
  whatGitHubRefuses,
  whatIsBlocked,
  whatIsSkipped,
} from '../../words/describe-fields.ts';
import type { CommandCall } from '../command.ts';
import type { Schemas, ServiceClient } from '../service/service.ts';
import { type ExitCode, exitCodes } from '../stop.ts';
import { nameOfTarget, type RepositoryTarget } from '../target.ts';
import { onOneLine, type Output } from '../terminal.ts';
import type { World } from '../world.ts';

type Condition = NonNullable<Schemas['NewScheduledFreeze']['exclude_conditions']>[number];
type EnforcedPreview = Schemas['FreezeState']['enforced'];

/** Shows what a freeze would hold, and saves nothing. @returns 1 if GitHub would not enforce it. */
export async function showFreezePreview(
  { output }: CommandCall,
  service: ServiceClient,
  repository: RepositoryTarget,
  body: Schemas['NewScheduledFreeze'],
): Promise<ExitCode> {
  const name = nameOfTarget(repository);
  const path = '/repos/{owner}/{repository}/scheduled_freeze/preview';
  const preview = await service.post(path, repository, body);
  const { counts, warnings } = preview;
  output.table(
    ['PULL REQUEST', 'WOULD BE', 'TITLE'],
    preview.pull_requests.map(({ pull_request: { number, title }, verdict }) => {
      const isHeld = verdict !== 'excluded';
      return [
        `${name}#${number}`,
        { text: isHeld ? 'blocked' : 'excluded', tone: isHeld ? 'held' : 'free' },
        title,
      ];
    }),
  );
  const toHold = counts.frozen + counts.unknown;
  const { blocked, notes } = whatGitHubRefuses([{ name, toHold, toRefuse: preview.to_refuse }]);
  if (blocksMerges(body))
    output.line(
      `Of ${counts.open} open pull requests, it would block ${blocked} and exclude ${counts.excluded}.`,
    );
  for (const note of notes) output.line(note);
  output.line(inWords(body));
  if (preview.time_until_held) output.line(preview.time_until_held.message);
  for (const { message } of warnings) output.note(`Warning: ${message}`);
  // The preview looks only at pull requests.
  const { enforced } = await service.get('/repos/{owner}/{repository}/freeze_state', repository);
  if (enforced === 'no') output.note(`GitHub would not block it: holdfast doctor ${name}`);
  output.json({ kind: 'freeze', repository: name, enforced, preview });
  return exitCodeOf(enforced);
}

/** What it would block and exclude, as sentences. */
function inWords(
  freeze: Pick<
    Schemas['NewScheduledFreeze'],
    'matching_conditions' | 'exclude_conditions' | 'holds' | 'environments' | 'on_deployment'
  >,
): string {
  const { matching_conditions: matching = [], exclude_conditions: exclude = [], holds } = freeze;
  const blocked = whatIsBlocked(freeze);
  if (blocked !== null && !holds?.includes('merges')) return blocked;
  const held =
    matching.length === 0 ? 'all pull requests' : `pull requests that match ${listedPreview(matching)}`;
  const pulls = `It blocks ${held}${exclude.length === 0 ? '' : `, except those that match ${listedPreview(exclude)}`}.`;
  return blocked === null ? pulls : `${blocked} ${pulls}`;
}

/** The service has accepted them, so each group has one key. */
const listedPreview = (conditions: Condition[]): string => inOneLine(conditions as ConditionInput[]);

const exitCodeOf = (enforced: EnforcedPreview): ExitCode =>
  ({ yes: exitCodes.done, no: exitCodes.refused, unknown: exitCodes.notKnown })[enforced];

/** A line for each occurrence, in the zone of the plan and of the reader. */
async function showOccurrences(
  output: Output,
  world: World,
  zone: string,
  occurrences: Schemas['FreezePlan']['next_occurrences'],
): Promise<void> {
  const { describeMoment } = await import('../times.ts');
  const shown = (at: string) => describeMoment(Date.parse(at), zone, world.zone);
  for (const { starts_at, ends_at } of occurrences)
    output.line(`  ${shown(starts_at)} until ${ends_at === null ? 'somebody removes it' : shown(ends_at)}`);
}

/** Shows what a plan would hold and when, and saves nothing. */
export async function showPlanPreview(
  { output, world }: CommandCall,
  service: ServiceClient,
  owner: string,
  body: Schemas['NewFreezePlan'],
): Promise<ExitCode> {
  const preview = await service.post('/freeze_plans/{owner}/preview', { owner }, body);
  const { repositories, not_enforced, not_looked_at } = preview;
  output.table(
    ['REPOSITORY', 'WOULD BLOCK', 'EXCLUDED', 'ENFORCED'],
    repositories.map(({ name, to_hold, to_refuse, excluded, enforced }) => [
      ...[`${owner}/${name}`, String(to_refuse ?? to_hold), String(excluded)],
      enforced === 'no' ? { text: 'no', tone: 'wrong' } : enforced,
    ]),
  );
  output.table(
    ['PULL REQUEST', 'AUTHOR', 'TITLE'],
    repositories.flatMap(({ name, pull_requests }) =>
      pull_requests
        .filter(({ held }) => held)
        .map(({ number, author, title }) => [`${owner}/${name}#${number}`, author ?? '', title ?? '']),
    ),
  );
  const { notes } = whatGitHubRefuses(
    repositories.map(({ name, to_hold, to_refuse }) => ({ name, toHold: to_hold, toRefuse: to_refuse })),
  );
  for (const note of notes) output.line(note);
  output.line(inWords(body));
  const skipped = whatIsSkipped(preview.archived);
  if (skipped !== null) output.line(skipped);
  if (preview.time_until_held) output.line(preview.time_until_held.message);
  await showOccurrences(output, world, body.timezone, preview.next_occurrences);
  for (const warning of preview.warnings ?? []) output.note(`Warning: ${warning}`);
  for (const name of not_enforced)
    output.note(`Nothing enforces freezes in ${name}: holdfast doctor ${name}`);
  for (const name of not_looked_at) output.note(`GitHub did not answer about ${name} in time.`);
  output.json({ kind: 'plan', owner, preview });
  const states = new Set(repositories.map(({ enforced }) => enforced));
  if (not_enforced.length > 0 || states.has('no')) return exitCodeOf('no');
  return exitCodeOf(not_looked_at.length > 0 || states.has('unknown') ? 'unknown' : 'yes');
}

const ruleOf = ({ rule, except, until }: NonNullable<Schemas['FreezePlan']['recurrence']>): string =>
  [rule, ...(except ?? []).map((date) => `not on ${date}`), ...(until ? [`until ${until}`] : [])].join(', ');

/** Prints a plan and its next occurrences. */
export async function printPlan(
  { output, world }: Pick<CommandCall, 'output' | 'world'>,
  plan: Schemas['FreezePlan'] & { warnings?: string[] },
): Promise<void> {
  output.line(`Plan ${plan.id}: ${onOneLine(plan.name)}`);
  output.line(`  ${plan.repositories_matched} repositories: ${plan.repositories.include.join(', ')}`);
  const blocked = whatIsBlocked(plan);
  if (blocked !== null) output.line(`  ${onOneLine(blocked)}`);
  const skipped = whatIsSkipped(plan.archived);
  if (skipped !== null) output.line(`  ${onOneLine(skipped)}`);
  if (plan.recurrence) output.line(`  Repeats: ${ruleOf(plan.recurrence)}`);
  if (plan.source) {
    const titles = plan.source.titles?.map(onOneLine).join(', ') ?? 'all events';
    output.line(`  Follows ${plan.source.url}: ${titles}`);
    if (plan.source_state?.error)
      output.note(`Not read since ${plan.source_state.read_at}: ${plan.source_state.error}`);
  }
  await showOccurrences(output, world, plan.timezone, plan.next_occurrences);
  for (const name of plan.not_enforced)
    output.note(`Nothing enforces freezes in ${name}: holdfast doctor ${name}`);
  for (const warning of plan.warnings ?? []) output.note(`Warning: ${warning}`);
  output.json({ plan });
}
