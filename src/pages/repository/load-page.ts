import { Temporal } from 'temporal-polyfill';
import { readUuid } from '../../api/fields.ts';
import { isTimeZone } from '../../time/local-time.ts';
import { queryLink } from '../form.ts';
import type { Deployment } from '../../deployments/deployment.ts';
import { listDeployments } from '../../deployments/deployment-store.ts';
import type { Deps } from '../../deps.ts';
import { type ExemptionRecord, listExemptions } from '../../exemptions/exemption-store.ts';
import { type ListedEvent, recentEvents } from '../../events/list-events.ts';
import { type HeldPullRequest, openPullRequests } from '../../statuses/held-pull-requests.ts';
import { asPublic } from '../../freezes/freeze.ts';
import { currentFreezes, type FreezeRecord, type PastPage, pastFreezes } from '../../freezes/list-freezes.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import type { ShownHeld } from '../held.ts';
import type { Times } from '../text.ts';

/** What the URL of a repository's page asks for. */
type View = {
  /** The requested zone, in Temporal's spelling; null for the reader's. */
  zone: string | null;
  /** The first freeze of the list of ongoing and scheduled freezes; null for the earliest. */
  current: string | null;
  /** The first freeze of the list of past freezes; null for the newest. */
  past: string | null;
};

/** The query parameters that a link may change. */
type ViewQuery = Partial<Record<'zone' | 'current' | 'past', string>>;

/**
 * Reads the query of a URL. Ignores invalid parameters and describes them in sentences.
 * @param query the first value of each parameter.
 */
export function readRepositoryView(query: ViewQuery): { view: View; problems: string[] } {
  const { zone = '', current = '', past = '' } = query;
  const isZone = isTimeZone(zone);
  const isPast = readUuid(past) !== null;
  const problems = [
    ...(zone === '' || isZone ? [] : ['This is not a time zone. Use an IANA name such as Europe/Paris.']),
    ...(past === '' || isPast ? [] : [noSuchFreeze]),
  ];
  return {
    view: { zone: isZone ? spellingOf(zone) : null, current: current || null, past: isPast ? past : null },
    problems,
  };
}

const noSuchCurrentFreeze =
  'This page of ongoing and scheduled freezes does not exist. The list starts with the earliest freeze.';

const noSuchFreeze = 'This page of past freezes does not exist. The list starts with the newest freeze.';

const spellingOf = (zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId;

/**
 * The relative URL of the same view with some parameters changed. Null removes a parameter.
 * @param part the id of the element to scroll to.
 */
export function linkTo(
  view: View,
  change: Partial<Record<keyof ViewQuery, string | null>>,
  part: string,
): string {
  return `${queryLink({ ...view, ...change })}#${part}`;
}

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
  /** The open pull requests, and those of them that freezes hold or should hold. */
  open: ShownHeld[];
  held: ShownHeld[];
  /** The deployments that wait, newest first; none if the viewer may not see them. */
  waiting: Deployment[];
  /** The exemptions of deployments that are not over, newest first; none if the viewer may not see them. */
  exemptions: ExemptionRecord[];
  /** The latest events; null if the viewer may not see the log. */
  log: ListedEvent[] | null;
};

/** Some rows of the freezes that are not over, and the first freezes of the previous and the next page. */
type CurrentPage = { rows: FreezeRecord[][]; earlier: string | null; later: string | null };

const currentPerPage = 20;
const pastPerPage = 20;
const mostRepositoryEvents = 5;
const mostDeployments = 20;

/** Loads the page from our database. @param isInside whether the viewer sees the log and reasons that are not public. */
export async function loadPage(
  deps: Pick<Deps, 'db' | 'clock' | 'sql'>,
  repository: FoundRepository,
  view: View,
  times: Times,
  isInside: boolean,
): Promise<RepositoryPage & { open: HeldPullRequest[] }> {
  const { now } = times;
  const { id } = repository;
  const [current, past, open, log, deployments, exemptions] = await Promise.all([
    currentFreezes(deps.db, id, now),
    pastFreezes(deps.db, id, now, { first: view.past, size: pastPerPage }),
    openPullRequests(deps, id),
    isInside ? recentEvents(deps, repository, {}, { perPage: mostRepositoryEvents }) : null,
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
    listed: { ...shownListed, rows: shownListed.rows.map(read) },
    past: { ...shownPast, freezes: read(shownPast.freezes) },
    open,
    held: open.filter(isHeld),
    waiting: deployments?.rows ?? [],
    exemptions: exemptions?.rows ?? [],
    log: log && log.events,
  };
}

export const isHeld = ({ heldBy }: Pick<HeldPullRequest, 'heldBy'>): boolean => heldBy.length > 0;

/**
 * A page of rows: of a plan it is one, with all its freezes.
 * @param first the id of a freeze of the first row. @returns null if there is no such freeze.
 */
function pageFrom(current: FreezeRecord[], first: string | null): CurrentPage | null {
  const rows = [...Map.groupBy(current, ({ id, planId }) => planId ?? id).values()];
  const start = first === null ? 0 : rows.findIndex((row) => row.some(({ id }) => id === first));
  if (start < 0) return null;
  const before = Math.max(0, start - currentPerPage);
  return {
    rows: rows.slice(start, start + currentPerPage),
    earlier: start === 0 ? null : rows[before]![0]!.id,
    later: rows[start + currentPerPage]?.[0]!.id ?? null,
  };
}
