import { authorizeOwner, authorizeReader } from '../../../auth/authorize.ts';
import { nullIf } from '../../../errors.ts';
import { repositoriesOfIds } from '../../../installations/find-repository.ts';
import { ownerPath } from '../../../installations/page-paths.ts';
import { matchedBy, repositoriesOfOwner } from '../../../plans/matched-repositories.ts';
import { ongoingIn } from '../../../plans/ongoing.ts';
import { showStatus as statusOfPullRequest } from '../../comments/verbs/show-status.ts';
import { type SlackOrder, selectionOf } from '../slack-order.ts';
import { fromMarkdown, link, list } from '../slack-text.ts';
import { where } from './freeze.ts';
import { described, planNamed } from './ongoing.ts';

/** The most private repositories of which GitHub is asked whether the person can read them. */
const mostAsked = 20;

/** What is frozen, of what the person can read on GitHub; or what holds a pull request. */
export async function showStatus(order: SlackOrder): Promise<string> {
  const { deps, account, caller, target } = order;
  const about = target ?? { kind: 'all', owner: null };
  if (about.kind === 'pull-request') {
    const path = { owner: account.login, repository: about.repository };
    const repository = await authorizeReader(deps, caller, path);
    return fromMarkdown(await statusOfPullRequest({ deps, repository, number: about.number }));
  }
  const plan = about.kind === 'plan' ? await planNamed(order, about.named) : null;
  const selection = plan ? plan.repositories : selectionOf(about);
  const matched = matchedBy({ repositories: selection }, await repositoriesOfOwner(deps.sql, account.id));
  const readable = await readableOf(order, matched);
  const ongoing = (await ongoingIn(deps, account, readable, true)).filter(
    ({ value }) => plan === null || value.endsWith(plan.id),
  );
  const place = where(account.login, selection);
  const page = link(deps.config.publicUrl + ownerPath(account.login), 'Show all repositories');
  if (ongoing.length === 0) return `Nothing is frozen in *${place}*. ${page}`;
  return `Frozen in *${place}*:\n${list(ongoing.map(described))}\n${page}`;
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
  for (const { name, id } of found.filter((each) => each.private).slice(0, mostAsked)) {
    const path = { owner: account.login, repository: name };
    if (await authorizeReader(deps, caller, path).catch(nullIf('not-found', 'forbidden')))
      readable.push(found.find((each) => each.id === id)!);
  }
  return readable;
}
