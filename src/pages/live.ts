import { setTimeout as sleep } from 'node:timers/promises';
import { streamSSE } from 'hono/streaming';
import type { ToldChange } from '../database/changes.ts';
import type { OwnerVisit } from './owner/open-owner.ts';
import type { RepositoryVisit, Visit } from './reader.ts';

// Pages that update themselves. A stream only says that something changed; the page is then asked for again (live.js), so
// what the reader may see is decided in one place, and a stream costs the database nothing.

/** Milliseconds until the browser must connect again, so that we check again whether the viewer may see this. */
const longestStream = 55_000;
/** Milliseconds in which changes are told together. */
const gathering = 250;

/** How many streams of a process may be open, of its connections; and those of visitors who are not signed in. */
const mostStreams = 400;
const mostOfStrangers = 100;

/** The streams that are open in this process. */
export class OpenStreams {
  #all = 0;
  #ofStrangers = 0;

  /** @returns gives the place back; null if there is none. */
  take(isStranger: boolean): (() => void) | null {
    if (this.#all >= mostStreams || (isStranger && this.#ofStrangers >= mostOfStrangers)) return null;
    this.#all++;
    if (isStranger) this.#ofStrangers++;
    return () => {
      this.#all--;
      if (isStranger) this.#ofStrangers--;
    };
  }
}

/** What a page says about its stream: the address, and whether it shows something that moves without a change. */
export type Live = { path: string; isMoving?: boolean };

/** How a page updates itself. @param path of its stream. @param about what the page is about, if not all of a repository. */
export const liveAt = ({ openedAt }: Visit, path: string, about: string[] = []): Live => {
  const query = new URLSearchParams([
    ['since', String(openedAt)],
    ...about.map((each) => ['about', each] as [string, string]),
  ]);
  return { path: `${path}?${query}` };
};

/** `GET /owners/{owner}/live`: tells when something changes in the repositories of an owner that the viewer can read. */
export const followOwner = (visit: OwnerVisit): Promise<Response> => follow(visit, concerns([visit]));

/** Whether a change is in one of the repositories that the viewer can read, or about an owner that they are an admin of. */
export function concerns(
  owners: Pick<OwnerVisit, 'account' | 'isAdmin' | 'repositories'>[],
): (change: ToldChange) => boolean {
  const administered = new Set(owners.filter(({ isAdmin }) => isAdmin).map(({ account }) => account.id));
  const ids = new Set(owners.flatMap(({ repositories }) => repositories.map(({ id }) => id)));
  return (change) =>
    'accountId' in change ? administered.has(change.accountId) : ids.has(change.repositoryId);
}

/** `GET /repos/{owner}/{repository}/live`: the same for a repository, or for what `about` names of it. */
export function followRepository(visit: RepositoryVisit): Promise<Response> {
  const about = new Set(visit.context.req.queries('about') ?? []);
  const { id } = visit.repository;
  return follow(
    visit,
    (change) =>
      'repositoryId' in change &&
      change.repositoryId === id &&
      (about.size === 0 || change.about === null || about.has(change.about)),
  );
}

/** Answers with an event for each wanted change, until the browser leaves or has to ask again. */
export async function follow(visit: Visit, wants: (change: ToldChange) => boolean): Promise<Response> {
  const { deps, context, viewer } = visit;
  // With this answer, a browser does not try again.
  const giveBack = deps.streams.take(!viewer);
  if (!giveBack) return context.body(null, 204);
  const since = Number(context.req.header('Last-Event-ID') ?? context.req.query('since') ?? '0');
  return streamSSE(context, async (stream) => {
    const left = new AbortController();
    stream.onAbort(() => left.abort());
    const timeUp = AbortSignal.any([left.signal, deps.stopping, AbortSignal.timeout(longestStream)]);
    const ended = new Promise<void>((resolve) =>
      timeUp.aborted ? resolve() : timeUp.addEventListener('abort', () => resolve(), { once: true }),
    );
    const tell = (event: 'begin' | 'changed' | 'over') =>
      stream.writeSSE({ event, id: String(deps.clock.now()), data: '' });
    let heard = Promise.withResolvers<null>();
    let stop = () => {};
    try {
      stop = await deps.changes.follow(wants, since, () => heard.resolve(null));
      await tell('begin');
      while (!timeUp.aborted) {
        await Promise.race([heard.promise, ended]);
        await sleep(gathering, undefined, { signal: timeUp }).catch(() => {});
        if (timeUp.aborted) break;
        heard = Promise.withResolvers();
        await tell('changed');
      }
      // The next one begins where this one ends.
      if (!left.signal.aborted) await tell('over');
    } finally {
      stop();
      giveBack();
    }
  });
}
