import type { Deployment } from '../../deployments/deployment.ts';
import { listDeployments } from '../../deployments/deployment-store.ts';
import type { Deps } from '../../deps.ts';
import { type ExemptionRecord, listExemptions } from '../../freezes/exemptions/exemption-store.ts';
import { type ListedEvent, recentEvents } from '../../events/list-events.ts';
import { type HeldPullRequest, heldPullRequests } from '../../statuses/held-pull-requests.ts';
import { asPublic } from '../../freezes/freeze.ts';
import { currentFreezes, type FreezeRecord, type PastPage, pastFreezes } from '../../freezes/list-freezes.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import type { Times } from '../text.ts';
import { noSuchCurrentFreeze, noSuchFreeze, type View } from './view.ts';

/** What a repository's page shows. */
export type RepositoryPage = {
  repository: FoundRepository;
  view: View;
  now: Date;
  times: Times;
  /** The problems with the URL, in sentences. */
  problems: string[];
  /** All freezes that are not over, and the page of them that is listed. */
  current: FreezeRecord[];
  listed: CurrentPage;
  past: PastPage;
  held: HeldPullRequest[];
  /** The deployments that wait, newest first; none if the viewer may not see them. */
  waiting: Deployment[];
  /** The exemptions of deployments that are not over, newest first; none if the viewer may not see them. */
  exemptions: ExemptionRecord[];
  /** The latest events; null if the viewer may not see the log. */
  log: ListedEvent[] | null;
};

/** Freezes in the order of `current`, and the first freezes of the previous and the next page. */
type CurrentPage = { freezes: FreezeRecord[]; earlier: string | null; later: string | null };

const currentPerPage = 20;
const pastPerPage = 20;
const mostEvents = 5;
const mostDeployments = 20;

/** Loads the page from our database. @param isInside whether the viewer sees the log and reasons that are not public. */
export async function loadPage(
  deps: Pick<Deps, 'db' | 'clock' | 'sql'>,
  repository: FoundRepository,
  view: View,
  times: Times,
  isInside: boolean,
): Promise<RepositoryPage> {
  const { now } = times;
  const { id } = repository;
  const [current, past, held, log, deployments, exemptions] = await Promise.all([
    currentFreezes(deps.db, id, now),
    pastFreezes(deps.db, id, now, { first: view.past, size: pastPerPage }),
    heldPullRequests(deps, id),
    isInside ? recentEvents(deps, repository, {}, { perPage: mostEvents }) : null,
    isInside ? listDeployments(deps.db, id, 'waiting', { size: mostDeployments }) : null,
    isInside
      ? listExemptions(
          deps.db,
          { repositoryId: id },
          { of: 'deployment', isOver: { at: now, is: false } },
          { size: mostDeployments },
        )
      : null,
  ]);
  const read = (freezes: FreezeRecord[]) => (isInside ? freezes : freezes.map(asPublic));
  const listed = pageFrom(current, view.current);
  const shownListed = listed ?? pageFrom(current, null)!;
  const shownPast = past ?? (await pastFreezes(deps.db, id, now, { first: null, size: pastPerPage }))!;
  return {
    repository,
    view,
    now,
    times,
    problems: [...(listed ? [] : [noSuchCurrentFreeze]), ...(past ? [] : [noSuchFreeze])],
    current: read(current),
    listed: { ...shownListed, freezes: read(shownListed.freezes) },
    past: { ...shownPast, freezes: read(shownPast.freezes) },
    held,
    waiting: deployments?.rows ?? [],
    exemptions: exemptions?.rows ?? [],
    log: log && log.events,
  };
}

/** @param first the id of the first freeze of the page. @returns null if there is no such freeze. */
function pageFrom(current: FreezeRecord[], first: string | null): CurrentPage | null {
  const start = first === null ? 0 : current.findIndex(({ id }) => id === first);
  if (start < 0) return null;
  const before = Math.max(0, start - currentPerPage);
  return {
    freezes: current.slice(start, start + currentPerPage),
    earlier: start === 0 ? null : current[before]!.id,
    later: current[start + currentPerPage]?.id ?? null,
  };
}
