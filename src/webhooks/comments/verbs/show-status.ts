import { explainPullRequest, type Explained } from '../../../explanations/explain-pull-request.ts';
import { asPublic } from '../../../freezes/freeze.ts';
import { whyNot } from '../../../pages/held.ts';
import { heldPullRequests } from '../../../statuses/held-pull-requests.ts';
import { describeInstant } from '../../../time/local-time.ts';
import { asCode } from '../../../github/markdown.ts';
import { alsoBlocked } from '../answer-text.ts';
import type { Order } from '../order.ts';

type About = Pick<Order, 'deps' | 'repository' | 'number'>;

/** How many freezes an answer names. */
const mostNamed = 5;

/** Answers what holds the pull request, until when, and whether GitHub holds it. */
export const showStatus = async (order: About): Promise<string> => {
  const { deps, repository, number } = order;
  const { pullRequest, freezes, sharedHolds } = await explainPullRequest(deps, repository, BigInt(number));
  if (!pullRequest.isOpen) return '**Closed.** Freezes block open pull requests only.';
  const holding = freezes.filter(
    ({ verdict, pass }) => !pass && (verdict === 'frozen' || verdict === 'unknown'),
  );
  if (holding.length > 0) return `${await headline(order, holding)}\n\n${list(holding)}`;
  const [shared] = sharedHolds;
  if (shared) {
    const how = shared.isBelow ? 'is below this one in its stack' : 'has the same commit';
    return `**Blocked.** A freeze blocks pull request ${shared.pullRequest}, which ${how}.`;
  }
  const pass = freezes.flatMap(({ pass }) => pass ?? [])[0];
  if (pass) {
    const until = describeInstant(pass.exemption.expiresAt, pass.freeze.timezone);
    return `**Exempt until ${until}.** Freezes do not block this pull request.`;
  }
  return '**Free.** No freeze holds this pull request.';
};

async function headline({ deps, repository, number }: About, holding: Explained[]): Promise<string> {
  const ends = holding.map(({ freeze }) => freeze);
  const endless = ends.some(({ endsAt }) => endsAt === null);
  const last = ends.reduce((one, other) => ((one.endsAt ?? 0) >= (other.endsAt ?? 0) ? one : other));
  const until = endless ? 'until it is removed' : `until ${describeInstant(last.endsAt!, last.timezone)}`;
  const [held] = await heldPullRequests(deps, repository.id, number);
  const notHeld = held ? held.notHeld : 'waiting';
  if (notHeld === 'leaking')
    return `**Not blocked:** a freeze is ongoing ${until}, but GitHub would merge this pull request.`;
  if (notHeld) return `**Pending:** a freeze is ongoing ${until}, but ${whyNot[notHeld]}.`;
  return `**Blocked ${until}.**`;
}

/** Everybody who can read the repository sees the answer, so it has public reasons. */
function list(holding: Explained[]): string {
  const lines = holding.slice(0, mostNamed).map(({ freeze, verdict }) => {
    const until = freeze.endsAt
      ? `until ${describeInstant(freeze.endsAt, freeze.timezone)}`
      : 'until it is removed';
    const why = asCode(asPublic(freeze).reason) || 'A freeze';
    return `- ${why}, ${until}${alsoBlocked(freeze)}${verdict === 'unknown' ? ' (its conditions could not be evaluated, so it blocks)' : ''}`;
  });
  const more = holding.length - lines.length;
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n');
}
