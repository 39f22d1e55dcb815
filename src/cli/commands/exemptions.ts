import { type CommandCall, command } from '../command.ts';
import {
  type AnyExemption,
  exemptionKinds,
  exemptionsOf,
  findItem,
  inEach,
  itemOf,
} from '../freezing/items.ts';
import type { Schemas, ServiceClient } from '../service/service.ts';
import { misused } from '../stop.ts';
import {
  nameOfTarget,
  nameOfPullRequest,
  readPlace,
  readPullRequestTarget,
  type RepositoryTarget,
  readRepository,
} from '../target.ts';
import { onOneLine } from '../terminal.ts';
import { endOptions, publicReasonOption } from './freeze-options.ts';

type AllowOptions = {
  message: string;
  publicReason?: string;
  for?: string;
  until?: string;
  anyHead?: true;
  freeze?: string[];
  environment?: string;
  commit?: string;
  run?: string;
};

export const allow = command<AllowOptions, [target: string]>({
  usage: 'allow <target>',
  summary: 'exempt a pull request or a deployment from freezes, or request an exemption',
  options: [
    ['-m, --message <reason>', 'the reason', 'required'],
    ...endOptions,
    ['--any-head', 'keep the exemption when new commits are pushed'],
    ['--freeze <id>', 'exempt it from this freeze only; repeat for more', 'many'],
    ['--environment <name>', 'exempt a deployment of a repository to this environment'],
    ['--commit <sha>', 'with --environment: one run of this commit may deploy'],
    ['--run <id>', 'with --environment: this run of a workflow may deploy'],
    publicReasonOption,
  ],
  examples: [
    ['holdfast allow acme/web#5 -m "Fixes INC-4711"', 'Exempt a pull request for 24 hours'],
    [
      'holdfast allow acme/web#5 -m "Fixes INC-4711" --for 4h --any-head',
      'Exempt it for four hours, including later commits',
    ],
    [
      'holdfast allow acme/web --environment production --run 9000000001 -m "Fixes INC-4711"',
      'Let a deployment go that waits',
    ],
  ],
  notes:
    'The exemption of a repository admin counts at once, unless the repository requires two people. For other people\nwith write access, this requests an exemption from an admin or approver: see holdfast requests.',
  async run(call, options, text) {
    const send =
      options.environment === undefined ? exemptPullRequest(options, text) : exemptDeployment(options, text);
    const { world, output } = call;
    const { describeMoment, readTimeWindow: readWindow } = await import('../times.ts');
    const { endsAt } = readWindow({ for: options.for, until: options.until }, world);
    const { service, memory } = await call.connect();
    if (endsAt !== null)
      output.note(`Exempting ${text} until ${describeMoment(endsAt, world.zone, world.zone)}.`);
    const { repository, exemption } = await send(service, {
      reason: options.message,
      public_reason: options.publicReason,
      expires_at: endsAt === null ? undefined : new Date(endsAt).toISOString(),
    });
    const { id, state, expires_at, url } = exemption;
    memory.save([itemOf(repository, exemption)]);
    const name = targetWords(repository, exemption);
    const until = describeMoment(Date.parse(expires_at), world.zone, world.zone);
    output.line(
      state === 'approved'
        ? `${name} is exempt until ${until}.`
        : `Requested an exemption for ${name} until ${until}. An admin or approver can approve it: holdfast approve ${id}`,
    );
    output.line(url);
    output.json({ repository: nameOfTarget(repository), exemption });
  },
});

type Wish = Pick<Schemas['NewExemption'], 'reason' | 'public_reason' | 'expires_at'>;
type Send = (
  service: ServiceClient,
  wish: Wish,
) => Promise<{ repository: RepositoryTarget; exemption: AnyExemption }>;

function exemptPullRequest({ freeze, anyHead, commit, run }: AllowOptions, text: string): Send {
  const { number, ...repository } = readPullRequestTarget(text);
  if (commit !== undefined || run !== undefined) throw misused('Add --environment: where it may deploy.');
  const path = '/repos/{owner}/{repository}/pulls/{number}/exemptions';
  return async (service, wish) => {
    const body = { ...wish, freeze_ids: freeze, any_head: anyHead };
    return { repository, exemption: await service.post(path, { ...repository, number }, body) };
  };
}

function exemptDeployment({ environment, commit, run, ...options }: AllowOptions, text: string): Send {
  const repository = readRepository(text);
  if ((commit === undefined) === (run === undefined) || (run !== undefined && !/^\d{1,15}$/.test(run)))
    throw misused('Add either --commit with a full SHA, or --run with the ID of a run.');
  if (options.anyHead || options.freeze)
    throw misused('--any-head and --freeze are for pull requests. Leave them out.');
  const path = '/repos/{owner}/{repository}/deployment_exemptions';
  const run_id = run === undefined ? undefined : Number(run);
  return async (service, wish) => {
    const body = { ...wish, environment: environment!, sha: commit, run_id };
    return { repository, exemption: await service.post(path, repository, body) };
  };
}

/** `acme/web#5`, or `acme/web to production (6dcb09b)`. */
const targetWords = (repository: RepositoryTarget, exemption: AnyExemption): string =>
  'environment' in exemption
    ? `${nameOfTarget(repository)} to ${exemption.environment} (${exemption.sha?.slice(0, 7) ?? `run ${exemption.run_id}`})`
    : nameOfPullRequest({ ...repository, number: exemption.pull_request });

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
    memory.save(found.map(({ repository, exemption }) => itemOf(repository, exemption)));
    const { describeInstant } = await import('../../time/local-time.ts');
    output.table(
      ['EXEMPTION', 'STATE', 'BY', 'UNTIL', 'REASON', 'ID'],
      found.map(({ repository, exemption: each }) => [
        ...[targetWords(repository, each), each.state],
        ...[each.requested_by.name, describeInstant(new Date(each.expires_at), world.zone)],
        ...[each.reason, each.id],
      ]),
    );
    if (found.length === 0)
      output.line(
        state === 'requested' ? `Nothing waits for a decision in ${target}.` : `There are none in ${target}.`,
      );
    output.json({
      exemptions: found.map(({ repository, exemption }) => ({
        repository: nameOfTarget(repository),
        exemption,
      })),
    });
  },
});

type DecideOptions = { message?: string; in?: string };

const where: [string, string] = [
  '--in <place>',
  'where the request is, if this machine has not seen it: acme or acme/web',
];

export const approveCommand = command<DecideOptions, [id: string]>({
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

export const denyCommand = command<DecideOptions, [id: string]>({
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
  { connect, output }: CommandCall,
  id: string,
  decision: 'approve' | 'deny' | 'revoke',
  { message: reason, in: where }: DecideOptions,
): Promise<undefined> {
  const connection = await connect();
  const { owner, repository, kind } = await findItem(connection, id, exemptionKinds, where);
  const list = kind === 'exemption' ? 'exemptions' : 'deployment_exemptions';
  const path = `/repos/{owner}/{repository}/${list}/{exemption_id}/${decision}` as const;
  const params = { owner, repository: repository!, exemption_id: id };
  const body = { reason } as Schemas['ExemptionDecision'];
  const exemption: AnyExemption = await connection.service.post(path, params, body);
  const { state, url } = exemption;
  const name = targetWords({ owner, repository: repository! }, exemption);
  output.line(`${name} is ${state}: ${onOneLine(exemption.reason)}`);
  output.line(url);
  output.json({ repository: `${owner}/${repository}`, exemption });
}
