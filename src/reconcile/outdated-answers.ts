import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { jobs, type Told } from '../queue/jobs.ts';
import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { findOutdated } from './open-pull-request-store.ts';
import { changedAtOf } from '../github/pull-requests/pull-request.ts';
import type { Observed } from './observe.ts';
import { inSeconds } from '../time/in-seconds.ts';

// GitHub's answers lag behind its events: one may show less than an event told of, or than an earlier look saw, or lack
// the test merge commit, which GitHub makes in the background.

const mostLooks = 4;

/**
 * Has pull requests looked at again, some seconds later, that an answer shows as they were before, or not at all. Part
 * of the transaction that saves the answer, before it is remembered.
 * @param told what events told of; null: the answer is about all that are open.
 * @param shown what the answer shows of them, closed ones too where it does.
 * @param awaited numbers of those that are to be looked at again for their test merge commits.
 */
export async function lookAtOutdated(
  deps: Deps,
  tx: Tx,
  { repository, observation }: Observed,
  told: Told[] | null,
  shown: LoadedPullRequest[],
  awaited: ReadonlySet<number> = new Set(),
): Promise<void> {
  const answers = new Map(shown.map(({ facts }) => [facts.number, changedAtOf(facts)]));
  const isBehind = ({ number, changedAt }: Told) =>
    changedAt !== undefined && inSeconds(answers.get(number) ?? new Date(0)) < inSeconds(new Date(changedAt));
  const behindEvents = (told ?? []).filter((event) => isBehind(event) || awaited.has(event.number));
  const asked = told && [...told.map(({ number }) => number), ...answers.keys()];
  const inAnswer = [...answers].map(([number, changedAt]) => ({ number, changedAt }));
  const seenBefore = await findOutdated(tx, repository.id, asked, inAnswer, observation);
  const behindLooks = seenBefore
    .filter(({ number }) => !behindEvents.some((event) => event.number === number))
    .map(({ number, nodeId, changedAt }) => ({
      number,
      nodeId,
      changedAt: changedAt?.toISOString(),
      looks: told?.find((event) => event.number === number)?.looks,
      installationId: String(repository.installation.id),
    }));
  const again = [...behindEvents, ...behindLooks].filter(({ looks = 0 }) => looks < mostLooks);
  await deps.queue.send(
    again.map((each) => {
      const looks = (each.looks ?? 0) + 1;
      const at = new Date(deps.clock.now() + 1000 * 2 ** looks);
      return jobs.reconcilePullRequest(repository.id, { ...each, looks }, at);
    }),
    tx,
  );
}
