import { whatIsBlocked } from '../../events/describe-fields.ts';
import type { Call } from '../command.ts';
import type { Schemas } from '../service/service.ts';
import { onOneLine } from '../terminal.ts';

const ruleOf = ({ rule, except, until }: NonNullable<Schemas['FreezePlan']['recurrence']>): string =>
  [rule, ...(except ?? []).map((date) => `not on ${date}`), ...(until ? [`until ${until}`] : [])].join(', ');

/** Prints a plan and its next occurrences. */
export async function showPlan(
  { output, world }: Pick<Call, 'output' | 'world'>,
  plan: Schemas['FreezePlan'] & { warnings?: string[] },
): Promise<void> {
  const { showOccurrences } = await import('./preview.ts');
  output.line(`Plan ${plan.id}: ${onOneLine(plan.name)}`);
  output.line(`  ${plan.repositories_matched} repositories: ${plan.repositories.include.join(', ')}`);
  const blocked = whatIsBlocked(plan);
  if (blocked !== null) output.line(`  ${onOneLine(blocked)}`);
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
