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
  summary: 'exempt a pull request from freezes, or request an exemption',
  options: [
    ['-m, --message <reason>', 'the reason', 'required'],
    ...endOptions,
    ['--any-head', 'keep the exemption when new commits are pushed'],
    ['--freeze <id>', 'exempt it from this freeze only; repeat for more', 'many'],
    ['--public-reason <reason>', 'statuses and public pages show this instead of the reason'],
  ],
  examples: [
    ['holdfast allow acme/web#5 -m "Fixes INC-4711"', 'Exempt a pull request for 24 hours'],
    [
      'holdfast allow acme/web#5 -m "Fixes INC-4711" --for 4h --any-head',
      'Exempt it for four hours, including later commits',
    ],
  ],
  notes:
    'The exemption of a repository admin counts at once, unless the repository requires two people. For other people\nwith write access, this requests an exemption from an admin: see holdfast requests.',
  async run(call, options, text) {
    const { owner, repository, number } = readPullRequest(text);
    const { world, output } = call;
    const { describeMoment, readWindow } = await import('../times/window.ts');
    const { endsAt } = readWindow({ for: options.for, until: options.until }, world);
    const { service, seen } = await call.connect();
    if (endsAt !== null)
      output.note(`Exempting ${text} until ${describeMoment(endsAt, world.zone, world.zone)}.`);
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
    if (state === 'approved') output.line(`${text} is exempt until ${until}.`);
    else
      output.line(
        `Requested an exemption for ${text} until ${until}. An admin can approve it: holdfast approve ${id}`,
      );
    output.line(url);
    output.json({ repository: `${owner}/${repository}`, exemption });
    return exitCodes.done;
  },
});
