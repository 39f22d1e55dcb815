import { type Call, command } from '../command.ts';
import { exemptionsOf, findItem, inEach } from '../freezing/items.ts';
import type { Schemas } from '../service/service.ts';
import { nameOf, nameOfPullRequest, readPlace, readPullRequest } from '../target.ts';
import { onOneLine } from '../terminal.ts';
import { endOptions, publicReasonOption } from './freeze-options.ts';

type AllowOptions = {
  message: string;
  publicReason?: string;
  for?: string;
  until?: string;
  anyHead?: true;
  freeze?: string[];
};

export const allow = command<AllowOptions, [pullRequest: string]>({
  usage: 'allow <pull-request>',
  summary: 'exempt a pull request from freezes, or request an exemption',
  options: [
    ['-m, --message <reason>', 'the reason', 'required'],
    ...endOptions,
    ['--any-head', 'keep the exemption when new commits are pushed'],
    ['--freeze <id>', 'exempt it from this freeze only; repeat for more', 'many'],
    publicReasonOption,
  ],
  examples: [
    ['holdfast allow acme/web#5 -m "Fixes INC-4711"', 'Exempt a pull request for 24 hours'],
    [
      'holdfast allow acme/web#5 -m "Fixes INC-4711" --for 4h --any-head',
      'Exempt it for four hours, including later commits',
    ],
  ],
  notes:
    'The exemption of a repository admin counts at once, unless the repository requires two people. For other people\nwith write access, this requests an exemption from an admin or approver: see holdfast requests.',
  async run(call, options, text) {
    const pullRequest = readPullRequest(text);
    const { world, output } = call;
    const { describeMoment, readWindow } = await import('../times.ts');
    const { endsAt } = readWindow({ for: options.for, until: options.until }, world);
    const { service, memory } = await call.connect();
    if (endsAt !== null)
      output.note(`Exempting ${text} until ${describeMoment(endsAt, world.zone, world.zone)}.`);
    const path = '/repos/{owner}/{repository}/pulls/{number}/exemptions';
    const exemption = await service.post(path, pullRequest, {
      reason: options.message,
      public_reason: options.publicReason,
      freeze_ids: options.freeze,
      any_head: options.anyHead,
      expires_at: endsAt === null ? undefined : new Date(endsAt).toISOString(),
    });
    const { id, state, expires_at, url } = exemption;
    const { owner, repository } = pullRequest;
    memory.save([{ kind: 'exemption', id, owner, repository }]);
    const until = describeMoment(Date.parse(expires_at), world.zone, world.zone);
    output.line(
      state === 'approved'
        ? `${text} is exempt until ${until}.`
        : `Requested an exemption for ${text} until ${until}. An admin or approver can approve it: holdfast approve ${id}`,
    );
    output.line(url);
    output.json({ repository: nameOf(pullRequest), exemption });
  },
});

export const requests = command<{ state?: string }, [target: string]>({
  usage: 'requests <target>',
  summary: 'list exemption requests',
  options: [['--state <state>', 'requested, approved, denied, revoked, expired, used or all (requested)']],
  examples: [
    ['holdfast requests acme', 'See the requests that wait for a decision'],
    ['holdfast requests acme/web --state approved', 'See the exemptions in a repository'],
  ],
  async run({ connect, world, output }, { state = 'requested' }, target) {
    const place = readPlace(target);
    const { service, memory } = await connect();
    const found = await inEach(service, place, async (repository) => {
      const exemptions = await exemptionsOf(service, repository, state === 'all' ? undefined : state);
      return exemptions.map((exemption) => ({ repository, exemption }));
    });
    memory.save(found.map(({ repository, exemption: { id } }) => ({ kind: 'exemption', id, ...repository })));
    const { describeInstant } = await import('../../time/local-time.ts');
    output.table(
      ['PULL REQUEST', 'STATE', 'BY', 'UNTIL', 'REASON', 'ID'],
      found.map(({ repository, exemption: each }) => [
        ...[nameOfPullRequest({ ...repository, number: each.pull_request }), each.state],
        ...[each.requested_by.name, describeInstant(new Date(each.expires_at), world.zone)],
        ...[each.reason, each.id],
      ]),
    );
    if (found.length === 0)
      output.line(
        state === 'requested' ? `Nothing waits for a decision in ${target}.` : `There are none in ${target}.`,
      );
    output.json({
      exemptions: found.map(({ repository, exemption }) => ({ repository: nameOf(repository), exemption })),
    });
  },
});

type DecideOptions = { message?: string; in?: string };

const where: [string, string] = [
  '--in <place>',
  'where the request is, if this machine has not seen it: acme or acme/web',
];

export const approve = command<DecideOptions, [id: string]>({
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

export const deny = command<DecideOptions, [id: string]>({
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
  run: (call, options: DecideOptions & { revoke?: true }, id) =>
    decide(call, id, options.revoke ? 'revoke' : 'deny', options),
});

async function decide(
  { connect, output }: Call,
  id: string,
  decision: 'approve' | 'deny' | 'revoke',
  { message: reason, in: where }: DecideOptions,
): Promise<undefined> {
  const connection = await connect();
  const { owner, repository } = await findItem(connection, id, ['exemption'], where);
  const path = `/repos/{owner}/{repository}/exemptions/{exemption_id}/${decision}` as const;
  const params = { owner, repository: repository!, exemption_id: id };
  const exemption = await connection.service.post(path, params, { reason } as Schemas['ExemptionDecision']);
  const { pull_request, state, url } = exemption;
  output.line(`${owner}/${repository}#${pull_request} is ${state}: ${onOneLine(exemption.reason)}`);
  output.line(url);
  output.json({ repository: `${owner}/${repository}`, exemption });
}
