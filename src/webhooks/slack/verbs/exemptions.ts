import { validate } from '../../../api/read-request.ts';
import { givenReason } from '../../../api/v1/exemption-schemas.ts';
import type { Tx } from '../../../database/database.ts';
import { conflict, notFound } from '../../../errors.ts';
import { actorName } from '../../../events/actor.ts';
import { decideExemption, requireExemption } from '../../../freezes/exemptions/decide-exemption.ts';
import { type ExemptionRecord, openExemptions } from '../../../freezes/exemptions/exemption-store.ts';
import { requestExemption } from '../../../freezes/exemptions/request-exemption.ts';
import { type FoundRepository, fullName } from '../../../installations/find-repository.ts';
import { deploymentsPath, pullRequestPath } from '../../../installations/page-paths.ts';
import { describeInstant } from '../../../time/local-time.ts';
import { zoneOfRepository } from '../../comments/order.ts';
import type { Target } from '../slack-command.ts';
import { authorizeIn, type Preview, type SlackOrder } from '../slack-order.ts';
import { link, plain } from '../slack-text.ts';

type OfPullRequest = Extract<Target, { kind: 'pull-request' }>;

const nameOf = (order: SlackOrder, repository: FoundRepository, number: number): string =>
  link(
    order.deps.config.publicUrl + pullRequestPath(repository, number),
    `${fullName(repository)}#${number}`,
  );

/** What an exemption is for. */
const subjectOf = (order: SlackOrder, repository: FoundRepository, exemption: ExemptionRecord): string =>
  exemption.deployment
    ? link(
        order.deps.config.publicUrl + deploymentsPath(repository),
        `a deployment of ${fullName(repository)} to ${exemption.deployment.environment}`,
      )
    : nameOf(order, repository, exemption.pullRequest);

/** What an exemption would free. */
export async function previewExempt(order: SlackOrder): Promise<Preview> {
  const { deps, words } = order;
  const { repository: name, number } = order.target as OfPullRequest;
  const reason = validate(givenReason, words, 'body');
  const { repository, notAdmin } = await authorizeIn(order, name, { least: 'write' });
  const where = { repositoryId_number: { repositoryId: repository.id, number } };
  const known = await deps.db.openPullRequest.findUnique({ where });
  if (!known) throw notFound(`${fullName(repository)} has no open pull request ${number}.`);
  const head = known.headSha.slice(0, 7);
  return {
    window: {
      title: 'Exemption',
      act: notAdmin ? 'Request' : 'Exempt',
      paragraphs: [
        notAdmin
          ? `You request that ${nameOf(order, repository, number)} can merge in spite of freezes. An admin or approver decides.`
          : `${nameOf(order, repository, number)} can merge in spite of freezes for 24 hours.`,
        `It counts for the commit ${head}. A push ends it.`,
        `Reason: ${plain(reason)}`,
      ],
    },
    noted: { headSha: known.headSha },
  };
}

/** Exempts the pull request with the commit that the window showed. */
export async function exempt(order: SlackOrder): Promise<void> {
  const { deps, actor, words, noted, who } = order;
  const { repository: name, number } = order.target as OfPullRequest;
  const { repository, notAdmin } = await authorizeIn(order, name, { least: 'write' });
  const input = {
    reason: validate(givenReason, words, 'body'),
    publicReason: null,
    freezeIds: null,
    anyHead: false,
    headSha: noted.headSha ?? null,
    expiresAt: null,
  };
  const zone = await zoneOfRepository(deps.db, repository.id);
  const saveAnswer = (tx: Tx, { state, expiresAt }: ExemptionRecord) => {
    const until = describeInstant(expiresAt, zone);
    const what = nameOf(order, repository, number);
    return order.saveAnswer(
      tx,
      state === 'approved'
        ? `${who} exempted ${what} until *${until}*: ${plain(input.reason)}`
        : `${who} requested an exemption for ${what} until ${until}. An admin or approver can write \`/holdfast approve ${fullName(repository)}#${number}\`.`,
    );
  };
  await requestExemption(deps, { actor, notAdmin }, repository, BigInt(number), input, saveAnswer);
}

/** The request that a decision would be about. */
const previewDecision =
  (act: 'Approve' | 'Deny') =>
  async (order: SlackOrder): Promise<Preview> => {
    const { deps } = order;
    const { repository: name, number } = order.target as OfPullRequest;
    const { repository } = await authorizeIn(order, name, { role: 'approver' });
    const open = (await openExemptions(deps.db, repository.id, [number])).filter(
      ({ state, expiresAt }) => state === 'requested' && expiresAt.getTime() > deps.clock.now(),
    );
    const [request, ...others] = open;
    if (!request) throw conflict(`${fullName(repository)}#${number} has no open exemption request.`);
    if (others.length > 0)
      throw conflict(
        `${fullName(repository)}#${number} has ${open.length} open requests. Decide on its page: ${deps.config.publicUrl}${pullRequestPath(repository, number)}`,
      );
    const zone = await zoneOfRepository(deps.db, repository.id);
    const { requestedBy, reason, anyHead, headSha, expiresAt } = request;
    const what = anyHead ? '*all commits*' : `the commit ${headSha.slice(0, 7)}`;
    return {
      window: {
        title: `${act} the exemption`,
        act,
        paragraphs: [
          `${plain(actorName(requestedBy))} requests an exemption of ${nameOf(order, repository, number)} for ${what} until ${describeInstant(expiresAt, zone)}.`,
          `Reason: ${plain(reason, 1_000)}`,
        ],
      },
      noted: { exemptionId: request.id },
    };
  };
export const previewApprove = previewDecision('Approve');
export const previewDeny = previewDecision('Deny');

/** Decides on the request that the window showed. */
const decideShown = (decision: 'approve' | 'deny') => async (order: SlackOrder) => {
  const { repository: name } = order.target as OfPullRequest;
  await decide(order, name, order.noted.exemptionId!, decision, order.words);
};
export const approve = decideShown('approve');
export const deny = decideShown('deny');

/** Approves or denies a request, if GitHub says that the person may. */
export async function decide(
  order: SlackOrder,
  repositoryName: string,
  id: string,
  decision: 'approve' | 'deny',
  words: string,
): Promise<void> {
  const { deps, actor, who } = order;
  const { repository } = await authorizeIn(order, repositoryName, { role: 'approver' });
  const reason = words === '' ? null : validate(givenReason, words, 'body');
  const zone = await zoneOfRepository(deps.db, repository.id);
  await requireExemption(deps.db, repository, id);
  const call = { actor, notAdmin: null, decision, reason };
  await decideExemption(deps, repository, id, call, (tx, exemption) => {
    const { state, requestedBy, expiresAt } = exemption;
    const what = `the exemption of ${subjectOf(order, repository, exemption)} that ${plain(actorName(requestedBy))} requested`;
    const until = state === 'approved' ? ` until *${describeInstant(expiresAt, zone)}*` : '';
    return order.saveAnswer(tx, `${who} ${state} ${what}${until}${reason ? `: ${plain(reason)}` : '.'}`);
  });
}
