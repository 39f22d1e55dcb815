import type { Call } from '../call.ts';
import { command } from '../command.ts';
import { placeOf } from '../freezing/find-place.ts';
import { onOneLine } from '../terminal/printable.ts';
import type { Exemption } from '../service/shapes.ts';
import { v1 } from '../service/service.ts';
import { type ExitCode, exitCodes } from '../stop.ts';

type Options = { message?: string; in?: string };

const where: [string, string] = [
  '--in <place>',
  'where the request is, if this machine has not seen it: acme or acme/web',
];

export const approve = command<Options, [id: string]>({
  usage: 'approve <id>',
  summary: 'approve an exemption request',
  options: [['-m, --message <reason>', 'why'], where],
  examples: [
    [
      'holdfast approve 0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11',
      'Approve a request from the list of holdfast requests',
    ],
  ],
  run: (call, options, id) => decide(call, id, 'approve', options),
});

export const deny = command<Options, [id: string]>({
  usage: 'deny <id>',
  summary: 'deny an exemption request, or revoke an exemption',
  options: [
    ['-m, --message <reason>', 'why', 'required'],
    ['--revoke', 'revoke an approved exemption'],
    where,
  ],
  examples: [
    ['holdfast deny 0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11 -m "It can wait"', 'Deny a request'],
    [
      'holdfast deny 0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11 --revoke -m "It broke staging"',
      'Revoke an exemption',
    ],
  ],
  run: (call, options: Options & { revoke?: true }, id) =>
    decide(call, id, options.revoke ? 'revoke' : 'deny', options),
});

async function decide(
  call: Call,
  id: string,
  decision: 'approve' | 'deny' | 'revoke',
  { message, in: where }: Options,
): Promise<ExitCode> {
  const connected = await call.connect();
  const { owner, repository } = await placeOf(connected, id, ['exemption'], where);
  const path = v1('repos', owner, repository!, 'exemptions', id, decision);
  const body = message === undefined ? {} : { reason: message };
  const exemption = await connected.service.post<Exemption>(path, body);
  const { pull_request, state, reason, url } = exemption;
  call.output.line(`${owner}/${repository}#${pull_request} is ${state}: ${onOneLine(reason)}`);
  call.output.line(url);
  call.output.json({ repository: `${owner}/${repository}`, exemption });
  return exitCodes.done;
}
