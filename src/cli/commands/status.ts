import type { Call } from '../call.ts';
import { command } from '../command.ts';
import type { Freeze } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { type ExitCode, exitCodes, misused } from '../stop.ts';
import { onOneLine } from '../terminal/printable.ts';
import type { Cell } from '../terminal/table.ts';
import { nameOf, type PullRequest, readTarget, type Repository } from '../target.ts';

type Explanation = {
  pull_request: { title: string; state: string };
  frozen: boolean;
  status: { state: string; description: string } | null;
  freezes: {
    scheduled_freeze: Freeze;
    verdict: string;
    until: string | null;
    exemption?: { reason: string; expires_at: string };
    reasons: { list: string; condition: string; match: boolean | null; decides: boolean }[];
  }[];
};

type FreezeState = {
  frozen: boolean;
  freezes: string[];
  next_transition_at: string | null;
  enforced: 'yes' | 'no' | 'unknown';
};

type Options = { exitCode?: true; base?: string };

export const status = command<Options, [target: string]>({
  usage: 'status <target>',
  summary: 'show whether a pull request or a repository is frozen, by what, and until when',
  options: [
    ['--base <branch>', 'for a repository: only pull requests into this branch'],
    ['--exit-code', 'exit with 1 if it is frozen'],
  ],
  examples: [
    ['holdfast status acme/web#5', 'See what holds a pull request, why, and until when'],
    [
      'holdfast status acme/web --base main --exit-code || exit 0',
      'Stop a script while a repository is frozen',
    ],
  ],
  async run(call, options, text) {
    const { owner, repository, number } = readTarget(text);
    if (repository === null) throw misused(`"${text}" is an owner: see holdfast list ${text}.`);
    const { service } = await call.connect();
    return number === null
      ? ofRepository(call, service, { owner, repository }, options)
      : ofPullRequest(call, service, { owner, repository, number }, options);
  },
});

async function ofPullRequest(
  { world, output }: Call,
  service: Service,
  { owner, repository, number }: PullRequest,
  { exitCode }: Options,
): Promise<ExitCode> {
  const found = await service.get<Explanation>(v1('repos', owner, repository, 'pulls', number, 'freezes'));
  const { describeMoment } = await import('../times/window.ts');
  const { frozen, freezes, pull_request } = found;
  const text = found.status?.description ?? `It is ${pull_request.state}.`;
  output.line(markOf(frozen), `  ${owner}/${repository}#${number} ${onOneLine(pull_request.title)}`);
  output.line(`        ${onOneLine(text)}`);
  const shown = (at: string, zone: string) => describeMoment(Date.parse(at), zone, world.zone);
  for (const { scheduled_freeze: freeze, verdict, until, exemption, reasons } of freezes) {
    const end = until === null ? 'until somebody removes it' : `until ${shown(until, freeze.timezone)}`;
    output.line(`\n${verdictWords[verdict] ?? verdict}  ${onOneLine(freeze.reason)}\n  ${freeze.id}, ${end}`);
    for (const { condition, match } of reasons.filter(({ decides }) => decides))
      output.line(
        `  ${match === null ? 'not known' : match ? 'matches' : 'does not match'}: ${onOneLine(condition)}`,
      );
    if (exemption)
      output.line(
        `  exempt until ${shown(exemption.expires_at, freeze.timezone)}: ${onOneLine(exemption.reason)}`,
      );
  }
  output.json(found);
  return exitCode && frozen ? exitCodes.refused : exitCodes.done;
}

const markOf = (frozen: boolean): Cell =>
  frozen ? { text: 'Frozen', tone: 'held' } : { text: 'Free', tone: 'free' };

const verdictWords: Record<string, string> = {
  frozen: 'held by',
  unknown: 'held by (its conditions could not be evaluated)',
  excluded: 'excluded by',
  not_matched: 'not matched by',
};

/** A frozen repository that is not enforced is a failure, because nothing is held. */
async function ofRepository(
  { world, output }: Call,
  service: Service,
  place: Repository,
  { base, exitCode }: Options,
): Promise<ExitCode> {
  const path = v1('repos', place.owner, place.repository, 'freeze_state');
  const found = await service.get<FreezeState>(path, { base });
  const { frozen, enforced, freezes, next_transition_at: next } = found;
  const { describeMoment } = await import('../times/window.ts');
  const change = next === null ? '' : ` until ${describeMoment(Date.parse(next), world.zone, world.zone)}`;
  output.line(markOf(frozen), `  ${nameOf(place)}${change}`);
  for (const id of freezes) output.line(`        held by ${id}`);
  output.line('        enforced: ', enforced === 'no' ? { text: 'no', tone: 'wrong' } : enforced);
  if (frozen && enforced === 'no')
    output.note(`GitHub does not hold what is frozen: holdfast doctor ${nameOf(place)}`);
  output.json(found);
  return frozen && (enforced === 'no' || exitCode) ? exitCodes.refused : exitCodes.done;
}
