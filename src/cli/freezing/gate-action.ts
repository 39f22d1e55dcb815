// The program of actions/gate. `npm run build:action` bundles it, so that a runner installs nothing.
import { millisecondsOf, parseDuration } from '../../time/duration.ts';
import { connectionOf, runStep, type ActionStep } from '../action-step.ts';
import { forJobs, serviceAt } from '../service/service.ts';
import { type ExitCode, exitCodes, misused } from '../stop.ts';
import { nameOfTarget, readRepository } from '../target.ts';
import { onOneLine } from '../terminal.ts';
import type { World } from '../world.ts';
import { describeGate, type GateState, passGate } from './pass-gate.ts';

const options = ['repository', 'environment', 'base', 'wait'] as const;
type Inputs = Record<(typeof options)[number], string | undefined>;

async function run(world: World, step: ActionStep, { wait, ...asked }: Inputs): Promise<ExitCode> {
  const repository = readRepository(asked.repository ?? '');
  const what = onOneLine(describeGate(nameOfTarget(repository), asked));
  const most = readWait(wait);
  const { url, token } = await connectionOf(world, step);
  const service = serviceAt(world, url, token, forJobs);
  const pages = ({ freezes }: GateState) =>
    freezes.map((id) => `${url}/repos/${nameOfTarget(repository)}/freezes/${id}`);
  const state = await passGate(world, service, repository, asked, most, (frozen) =>
    step.annotate(
      most > 0 ? 'warning' : 'error',
      [`${what}: ${describeEnd(frozen)}`, ...pages(frozen)].join(' '),
    ),
  );
  step.output('frozen', state.frozen);
  step.output('until', state.next_transition_at ?? '');
  step.log([`${what}: ${state.frozen ? describeEnd(state) : 'not frozen.'}`]);
  return state.frozen ? exitCodes.frozen : exitCodes.done;
}

const describeEnd = ({ next_transition_at: next }: GateState): string =>
  next === null ? 'frozen until somebody ends the freeze.' : `frozen until ${next}.`;

/** Milliseconds. */
function readWait(text: string | undefined): number {
  if (text === undefined || text === 'false') return 0;
  if (text === 'true') return Infinity;
  const length = parseDuration(text);
  if (!length)
    throw misused(`The input wait is "${text}". Write true, or a length of time such as 30m or 2h.`);
  return millisecondsOf(length);
}

await runStep(options, run);
