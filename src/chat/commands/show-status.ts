import { authorizeOwner, authorizeReader } from '../../auth/authorize.ts';
import { nullIf } from '../../errors.ts';
import { type Explained, explainPullRequest } from '../../explanations/explain-pull-request.ts';
import { asPublic } from '../../freezes/freeze.ts';
import { ownerPath } from '../../page-paths.ts';
import { repositoriesOfIds } from '../../installations/find-repository.ts';
import { asGitHubSees, whyNot } from '../../pages/held.ts';
import { matchedBy, repositoriesOfOwner } from '../../plans/matched-repositories.ts';
import { ongoingIn } from '../../plans/ongoing.ts';
import { heldPullRequests } from '../../statuses/held-pull-requests.ts';
import { describeInstant } from '../../time/local-time.ts';
import { selectionOf, type SlackOrder } from '../slack/slack-order.ts';
import { link, bulletList } from '../../notices/slack/slack-words.ts';
import { inMrkdwn } from '../slack/slack-text.ts';
import { where } from './freeze.ts';
import { describedInSlack, nameOfPlan, planNamed } from './ongoing.ts';
import { alsoBlocked, type CommentOrder, inMarkdown, type Writing } from './order.ts';

type About = Pick<CommentOrder, 'deps' | 'repository' | 'number'>;

/** How many freezes an answer names. */
const mostFreezesNamed = 5;

/** Answers what holds the pull request, until when, and whether GitHub holds it. */
export const statusOfPullRequest = async (order: About, writing = inMarkdown): Promise<string> => {
  const { deps, repository, number } = order;
  const { strong } = writing;
  const { pullRequest, freezes, sharedHolds } = await explainPullRequest(deps, repository, BigInt(number));
  if (!pullRequest.isOpen) return `${strong('Closed.')} Freezes block open pull requests only.`;
  const holding = freezes.filter(
    ({ verdict, pass }) => !pass && (verdict === 'frozen' || verdict === 'unknown'),
  );
  if (holding.length > 0) return `${await headline(order, holding, writing)}\n\n${listOf(holding, writing)}`;
  const [shared] = sharedHolds;
  if (shared) {
    const how = shared.isBelow ? 'is below this one in its stack' : 'has the same commit';
    return `${strong('Blocked.')} A freeze blocks pull request ${shared.pullRequest}, which ${how}.`;
  }
  const pass = freezes.flatMap(({ pass }) => pass ?? [])[0];
  if (pass) {
    const until = describeInstant(pass.exemption.expiresAt, pass.freeze.timezone);
    return `${strong(`Exempt until ${until}.`)} Freezes do not block this pull request.`;
  }
  return `${strong('Free.')} No freeze holds this pull request.`;
};

async function headline(
  { deps, repository, number }: About,
  holding: Explained[],
  { strong }: Writing,
): Promise<string> {
  const ends = holding.map(({ freeze }) => freeze);
  const endless = ends.some(({ endsAt }) => endsAt === null);
  const last = ends.reduce((one, other) => ((one.endsAt ?? 0) >= (other.endsAt ?? 0) ? one : other));
  const until = endless ? 'until removed' : `until ${describeInstant(last.endsAt!, last.timezone)}`;
  const all = await heldPullRequests(deps, repository.id, number);
  // Whoever can read the repository reads the answer.
  const [held] = await asGitHubSees(deps, repository, all, repository.private);
  const notHeld = held ? held.notHeld : 'waiting';
  if (notHeld === 'leaking' || notHeld === 'unrequired')
    return `${strong('Not blocked:')} a freeze is ongoing ${until}, but GitHub would merge this pull request.`;
  if (notHeld) return `${strong('Pending:')} a freeze is ongoing ${until}, but ${whyNot[notHeld]}.`;
  return strong(`Blocked ${until}.`);
}

/** Everybody who can read the repository sees the answer, so it has public reasons. */
function listOf(holding: Explained[], writing: Writing): string {
  const lines = holding.slice(0, mostFreezesNamed).map(({ freeze, verdict }) => {
    const until = freeze.endsAt
      ? `until ${describeInstant(freeze.endsAt, freeze.timezone)}`
      : 'until removed';
    const why = writing.said(asPublic(freeze).reason) || 'A freeze';
    return `${writing.bullet} ${why}, ${until}${alsoBlocked(freeze, writing)}${verdict === 'unknown' ? ' (its conditions could not be evaluated, so it blocks)' : ''}`;
  });
  const more = holding.length - lines.length;
  return [...lines, ...(more > 0 ? [`${writing.bullet} and ${more} more`] : [])].join('\n');
}

/** The most private repositories of which GitHub is asked whether the person can read them. */
const mostPrivateAsked = 20;

/** What is frozen, of what the person can read on GitHub; or what holds a pull request. */
export async function showStatus(order: SlackOrder): Promise<string> {
  const { deps, account, caller, target } = order;
  const about = target ?? { kind: 'all', owner: null };
  if (about.kind === 'pull-request') {
    const path = { owner: account.login, repository: about.repository };
    const repository = await authorizeReader(deps, caller, path);
    return statusOfPullRequest({ deps, repository, number: about.number }, inMrkdwn);
  }
  const plan = about.kind === 'plan' ? await planNamed(order, about.named) : null;
  const selection = plan ? plan.repositories : selectionOf(about);
  const { used } = matchedBy({ repositories: selection }, await repositoriesOfOwner(deps.sql, account.id));
  const readable = await readableOf(order, used);
  const ongoing = (await ongoingIn(deps, account, readable, true)).filter(
    ({ value }) => plan === null || value.endsWith(plan.id),
  );
  // Its globs can name repositories that the person cannot see.
  const place = plan ? nameOfPlan(plan) : where(account.login, selection);
  const page = link(deps.config.publicUrl + ownerPath(account.login), 'Show all repositories');
  if (ongoing.length === 0) return `Nothing is frozen in *${place}*. ${page}`;
  return `Frozen in *${place}*:\n${bulletList(ongoing.map(describedInSlack))}\n${page}`;
}

/** Of these repositories those that the person can read. */
async function readableOf(
  { deps, account, caller }: SlackOrder,
  all: { id: bigint; name: string }[],
): Promise<{ id: bigint; name: string }[]> {
  const isAdmin = await authorizeOwner(deps, caller, account.login, 'read').catch(nullIf('forbidden'));
  if (isAdmin) return all;
  const found = await repositoriesOfIds(
    deps.sql,
    all.map(({ id }) => id),
  );
  const readable = found.filter((each) => !each.private);
  for (const { name, id } of found.filter((each) => each.private).slice(0, mostPrivateAsked)) {
    const path = { owner: account.login, repository: name };
    if (await authorizeReader(deps, caller, path).catch(nullIf('not-found', 'forbidden')))
      readable.push(found.find((each) => each.id === id)!);
  }
  return readable;
}
