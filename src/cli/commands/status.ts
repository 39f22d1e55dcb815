import { type CommandCall, command } from '../command.ts';
import { type Schemas, type ServiceClient, forJobs } from '../service/service.ts';
import { type ExitCode, exitCodes, misused } from '../stop.ts';
import {
  nameOfTarget,
  nameOfPullRequest,
  type PullRequestTarget,
  readCommandTarget,
  type RepositoryTarget,
  readRepository,
} from '../target.ts';
import { type Cell, onOneLine } from '../terminal.ts';
import { whatIsBlocked } from '../../words/describe-fields.ts';
import { describeGate, type GateOptions, passGate } from '../freezing/pass-gate.ts';

type Options = { exitCode?: true; base?: string };

export const status = command<Options, [target: string]>({
  usage: 'status <target>',
  summary: 'show whether a pull request or a repository is frozen, by what, and until when',
  options: [
    ['--base <branch>', 'for a repository: only pull requests into this branch'],
    ['--exit-code', 'exit with 1 if it is frozen'],
  ],
  examples: [
    ['holdfast status acme/web#5', 'See what blocks a pull request, why, and until when'],
    [
      'holdfast status acme/web --base main --exit-code || exit',
      'Stop a script while a repository is frozen',
    ],
  ],
  async run(call, options, text) {
    const { owner, repository, number } = readCommandTarget(text);
    if (repository === null) throw misused(`"${text}" is an owner: see holdfast list ${text}.`);
    const { service } = await call.connect();
    return number === null
      ? ofRepository(call, service, { owner, repository }, options)
      : ofPullRequest(call, service, { owner, repository, number }, options);
  },
});

async function ofPullRequest(
  { world, output }: CommandCall,
  service: ServiceClient,
  pullRequest: PullRequestTarget,
  { exitCode }: Options,
): Promise<ExitCode> {
  const found = await service.get('/repos/{owner}/{repository}/pulls/{number}/freezes', pullRequest);
  const { describeMoment } = await import('../times.ts');
  const { frozen, freezes, pull_request } = found;
  const text = found.status?.description ?? `It is ${pull_request.state}.`;
  output.line(statusMark(frozen), `  ${nameOfPullRequest(pullRequest)} ${onOneLine(pull_request.title)}`);
  output.line(`        ${onOneLine(text)}`);
  const shown = (at: string, zone: string) => describeMoment(Date.parse(at), zone, world.zone);
  for (const { scheduled_freeze: freeze, verdict, until, exemption, reasons } of freezes) {
    const end = until === null ? 'until somebody removes it' : `until ${shown(until, freeze.timezone)}`;
    output.line(`\n${verdictWords[verdict]}  ${onOneLine(freeze.reason)}\n  ${freeze.id}, ${end}`);
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

const statusMark = (frozen: boolean): Cell =>
  frozen ? { text: 'Frozen', tone: 'held' } : { text: 'Free', tone: 'free' };

type StatusVerdict = Schemas['PullRequestExplanation']['freezes'][number]['verdict'];

const verdictWords: Record<StatusVerdict, string> = {
  frozen: 'blocked by',
  unknown: 'blocked by (its conditions could not be evaluated)',
  excluded: 'excluded by',
  not_matched: 'not matched by',
};

/** A frozen repository that is not enforced is a failure, because nothing is held. */
async function ofRepository(
  { world, output }: CommandCall,
  service: ServiceClient,
  repository: RepositoryTarget,
  { base, exitCode }: Options,
): Promise<ExitCode> {
  const found = await service.get('/repos/{owner}/{repository}/freeze_state', repository, { base });
  const { frozen, enforced, freezes, next_transition_at: next } = found;
  const { describeMoment } = await import('../times.ts');
  const change = next === null ? '' : ` until ${describeMoment(Date.parse(next), world.zone, world.zone)}`;
  output.line(statusMark(frozen), `  ${nameOfTarget(repository)}${change}`);
  for (const id of freezes) output.line(`        blocked by ${id}`);
  const { isOngoingItem: isOn, fetchFreezes: listFreezes } = await import('../freezing/items.ts');
  const now = world.now();
  for (const each of (await listFreezes(service, repository)).filter((each) => isOn(each, now))) {
    const blocked = whatIsBlocked(each.freeze);
    if (blocked !== null) output.line(`        ${each.freeze.id}: ${onOneLine(blocked)}`);
  }
  output.line('        enforced: ', enforced === 'no' ? { text: 'no', tone: 'wrong' } : enforced);
  if (frozen && enforced === 'no')
    output.note(`GitHub does not block what is frozen: holdfast doctor ${nameOfTarget(repository)}`);
  output.json(found);
  return frozen && (enforced === 'no' || exitCode) ? exitCodes.refused : exitCodes.done;
}

export const gate = command<GateOptions & { wait?: string | true }, [repository: string]>({
  usage: 'gate <repository>',
  summary: 'let a pipeline continue only if nothing is frozen',
  options: [
    ['--environment <name>', 'ask about deployments to this environment'],
    ['--base <branch>', 'ask about merges into this branch'],
    ['--wait [length]', 'wait until the freeze ends, for at most this time'],
  ],
  examples: [
    ['holdfast gate acme/web --environment production && ./deploy.sh', 'Deploy only if nothing is frozen'],
    ['holdfast gate acme/web --environment production --wait 2h', 'Wait up to two hours for the end'],
  ],
  notes: `Exits with 0 if nothing is frozen, 3 if something is, and 2 if that is not known: the service does not answer, or does
not accept the credential. So a pipeline that stops at every code but 0 never passes a freeze.`,
  async run(call, { wait, ...asked }, text): Promise<ExitCode> {
    const { world, output } = call;
    const repository = readRepository(text);
    const { describeMoment, readMilliseconds } = await import('../times.ts');
    const most = wait === undefined ? 0 : wait === true ? Infinity : readMilliseconds(wait);
    const { service } = await call.connect(forJobs);
    const what = onOneLine(describeGate(nameOfTarget(repository), asked));
    const state = await passGate(world, service, repository, asked, most, (frozen) => {
      const { freezes, next_transition_at: next } = frozen;
      const end =
        next === null
          ? 'until somebody ends the freeze'
          : `until ${describeMoment(Date.parse(next), world.zone, world.zone)}`;
      const ids = freezes.length > 0 ? ` (${freezes.join(', ')})` : '';
      output.note(`${what}: frozen ${end}${ids}.${most > 0 ? ' Waiting.' : ''}`);
    });
    output.line(
      state.frozen ? { text: 'Frozen', tone: 'held' } : { text: 'Free', tone: 'free' },
      `  ${what}`,
    );
    output.json(state);
    return state.frozen ? exitCodes.frozen : exitCodes.done;
  },
});
