import type { Call } from '../call.ts';
import { type FreezeBody, type Frozen, planBody } from './frozen.ts';
import { type Service, v1 } from '../service/service.ts';
import { type ExitCode, exitCodes } from '../stop.ts';

type FreezePreview = {
  counts: { open: number; frozen: number; excluded: number; unknown: number };
  warnings: { message: string }[];
  pull_requests: { pull_request: { number: number; title: string }; verdict: string }[];
};

type Enforced = 'yes' | 'no' | 'unknown';

type PlanPreview = {
  repositories: { name: string; to_hold: number; excluded: number; enforced: Enforced }[];
  not_enforced: string[];
  not_looked_at: string[];
};

/** Shows what a freeze would hold, and saves nothing. @returns 1 if GitHub would not enforce it. */
export const preview = (call: Call, service: Service, frozen: Frozen, body: FreezeBody): Promise<ExitCode> =>
  frozen.kind === 'freeze'
    ? previewFreeze(call, service, frozen, body)
    : previewPlan(call, service, frozen.owner, planBody(body, frozen.repositories));

async function previewFreeze(
  { output }: Call,
  service: Service,
  { owner, repository }: { owner: string; repository: string },
  body: FreezeBody,
): Promise<ExitCode> {
  const path = v1('repos', owner, repository, 'scheduled_freeze', 'preview');
  const found = await service.post<FreezePreview>(path, body);
  const { counts, warnings } = found;
  output.table(
    ['PULL REQUEST', 'WOULD BE', 'TITLE'],
    found.pull_requests.map(({ pull_request: { number, title }, verdict }) => {
      const isHeld = verdict !== 'excluded';
      return [
        `${owner}/${repository}#${number}`,
        { text: isHeld ? 'held' : 'excluded', tone: isHeld ? 'held' : 'free' },
        title,
      ];
    }),
  );
  output.line(
    `Of ${counts.open} open pull requests, it would hold ${counts.frozen + counts.unknown} and exclude ${counts.excluded}.`,
  );
  for (const { message } of warnings) output.note(`Warning: ${message}`);
  // The preview looks only at pull requests.
  const { enforced } = await service.get<{ enforced: Enforced }>(
    v1('repos', owner, repository, 'freeze_state'),
  );
  if (enforced === 'no') output.note(`GitHub would not hold it: holdfast doctor ${owner}/${repository}`);
  output.json({ kind: 'freeze', repository: `${owner}/${repository}`, enforced, preview: found });
  return exitCodeOf(enforced);
}

const exitCodeOf = (enforced: Enforced): ExitCode =>
  ({ yes: exitCodes.done, no: exitCodes.refused, unknown: exitCodes.notKnown })[enforced];

/** Shows what a plan would hold, and saves nothing. */
export async function previewPlan(
  { output }: Call,
  service: Service,
  owner: string,
  body: object,
): Promise<ExitCode> {
  const found = await service.post<PlanPreview>(v1('freeze_plans', owner, 'preview'), body);
  const { repositories, not_enforced, not_looked_at } = found;
  output.table(
    ['REPOSITORY', 'WOULD HOLD', 'EXCLUDED', 'ENFORCED'],
    repositories.map(({ name, to_hold, excluded, enforced }) => [
      ...[`${owner}/${name}`, String(to_hold), String(excluded)],
      enforced === 'no' ? { text: 'no', tone: 'wrong' } : enforced,
    ]),
  );
  for (const name of not_enforced)
    output.note(`Nothing enforces freezes in ${name}: holdfast doctor ${name}`);
  for (const name of not_looked_at) output.note(`GitHub did not answer about ${name} in time.`);
  output.json({ kind: 'plan', owner, preview: found });
  const states = new Set(repositories.map(({ enforced }) => enforced));
  if (not_enforced.length > 0 || states.has('no')) return exitCodeOf('no');
  return exitCodeOf(not_looked_at.length > 0 || states.has('unknown') ? 'unknown' : 'yes');
}
