import { command } from '../command.ts';
import { describeGate, type GateOptions, passGate } from '../freezing/pass-gate.ts';
import { forJobs } from '../service/service.ts';
import { type ExitCode, exitCodes } from '../stop.ts';
import { nameOf, readRepository } from '../target.ts';
import { onOneLine } from '../terminal.ts';

type Options = GateOptions & { wait?: string | true };

export const gate = command<Options, [repository: string]>({
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
    const what = onOneLine(describeGate(nameOf(repository), asked));
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
