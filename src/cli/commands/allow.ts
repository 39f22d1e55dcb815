import { command } from '../command.ts';
import type { Exemption } from '../service/shapes.ts';
import { v1 } from '../service/service.ts';
import { exitCodes } from '../stop.ts';
import { readPullRequest } from '../target.ts';
import { endOptions } from './freeze-options.ts';

type Options = {
  message: string;
  publicReason?: string;
  for?: string;
  until?: string;
  anyHead?: true;
  freeze?: string[];
};

export const allow = command<Options, [pullRequest: string]>({
  usage: 'allow <pull-request>',
  summary: 'let a pull request through freezes, or ask for that',
  options: [
    ['-m, --message <reason>', 'why', 'required'],
    ...endOptions,
    ['--any-head', 'let commits through that are pushed later, too'],
    ['--freeze <id>', 'only through this freeze; again for more', 'many'],
    ['--public-reason <reason>', 'what everybody but admins and insiders reads instead of the reason'],
  ],
  examples: [
    ['holdfast allow acme/web#5 -m "Fixes INC-4711"', 'Let one pull request through for 24 hours'],
    [
      'holdfast allow acme/web#5 -m "Fixes INC-4711" --for 4h --any-head',
      'For four hours, with later commits',
    ],
  ],
  notes:
    'An admin of the repository lets it through at once, unless the repository asks for two persons. For everybody else\nwho can write, this asks an admin: see holdfast requests.',
  async run(call, options, text) {
    const { owner, repository, number } = readPullRequest(text);
    const { world, output } = call;
    const { describeMoment, readWindow } = await import('../times/window.ts');
    const { endsAt } = readWindow({ for: options.for, until: options.until }, world);
    const { service, seen } = await call.connect();
    if (endsAt !== null)
      output.note(`Letting ${text} through until ${describeMoment(endsAt, world.zone, world.zone)}.`);
    const exemption = await service.post<Exemption>(
      v1('repos', owner, repository, 'pulls', number, 'exemptions'),
      {
        reason: options.message,
        ...(options.publicReason !== undefined && { public_reason: options.publicReason }),
        ...(options.freeze && { freeze_ids: options.freeze }),
        ...(options.anyHead && { any_head: true }),
        ...(endsAt !== null && { expires_at: new Date(endsAt).toISOString() }),
      },
    );
    const { id, state, expires_at, url } = exemption;
    seen.keep([{ kind: 'exemption', id, owner, repository }]);
    const until = describeMoment(Date.parse(expires_at), world.zone, world.zone);
    if (state === 'approved') output.line(`${text} is let through until ${until}.`);
    else output.line(`Asked to let ${text} through until ${until}. An admin decides: holdfast approve ${id}`);
    output.line(url);
    output.json({ repository: `${owner}/${repository}`, exemption });
    return exitCodes.done;
  },
});
