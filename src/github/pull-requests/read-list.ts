import type { ReadPullRequest } from './ask-for-pull-requests.ts';
import { askInPart, whyMissing } from './ask-in-part.ts';
import { didNotGive, type Fact, known, notKnown } from './fact.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { Page, PullRequestAnswer } from '../queries/answers.ts';
import type { List } from '../queries/lists.ts';
import { isWithin } from '../queries/parts.ts';
import { whyNotRead } from './why-not-read.ts';

type From = Pick<LoadFrom, 'client' | 'deps'>;

/**
 * A list of a pull request to its end: the page that came with it, and the pages after it. If one element is missing,
 * the whole list is not known.
 * @throws rate limits and outages.
 */
export async function readList<Item>(
  from: From,
  read: ReadPullRequest,
  list: List<Item>,
): Promise<Fact<Item[]>> {
  const missing = read.problems.filter(({ part }) => isWithin(list.part, part));
  if (missing.length > 0) return notKnown(whyMissing(missing, list.what));
  const missed = notKnown(didNotGive(list.what));

  const items: Item[] = [];
  let cursor: string | null = null;
  const first = list.of(read.answer, read.answer.headRefOid);
  // undefined: the question left it out, so read it from the beginning.
  let page: Fact<Page<Item> | null> =
    first === undefined ? await readMore(from, read.answer, list, cursor) : known(first);
  for (;;) {
    if (!page.known) return page;
    if (!page.value?.nodes) return missed;
    for (const item of page.value.nodes) {
      if (item === null) return missed;
      items.push(item);
    }
    const { hasNextPage, endCursor }: Page<Item>['pageInfo'] = page.value.pageInfo;
    if (!hasNextPage) return known(items);
    // If the cursor does not move, this would never end.
    if (endCursor === null || endCursor === cursor) return missed;
    cursor = endCursor;
    page = await readMore(from, read.answer, list, cursor);
  }
}

async function readMore<Item>(
  { client, deps }: From,
  { id, number, headRefOid }: PullRequestAnswer,
  list: List<Item>,
  after: string | null,
): Promise<Fact<Page<Item> | null>> {
  try {
    type More = { node: PullRequestAnswer | null };
    const { answer, problems, error } = await askInPart<More>(client, list.moreQuery, { id, after });
    if (problems.length === 0) return known(answer.node && (list.of(answer.node, headRefOid) ?? null));
    deps.log.warn({ err: error, number }, 'GitHub answered in part');
    return notKnown(whyMissing(problems, list.what));
  } catch (error) {
    return notKnown(whyNotRead(error, list.what));
  }
}
