import { Readable } from 'node:stream';
import { html } from 'hono/html';
import { presentEvent } from '../../api/v1/logs.ts';
import { Refusal } from '../../errors.ts';
import { actsIn } from './acts.ts';
import { csvHeader, csvRow, type LoggedEvent } from '../../words/event-words.ts';
import { type EventPage, listEvents, type LogPlace } from '../../events/list-events.ts';
import type { RepositoryState } from '../../explanations/repository-states.ts';
import { fullName } from '../../installations/find-repository.ts';
import { auditPath, ownerPath, repositoryPath, reportsPath } from '../../page-paths.ts';
import type { LayoutPage } from '../layout.ts';
import { messagePage, showPage } from '../message-page.ts';
import { insideOf, type OwnerVisit } from '../owner/open-owner.ts';
import {
  absentOrSignIn,
  hasAnyRole,
  permissionOf,
  type RepositoryVisit,
  silentPage,
  readerTimes,
  type Visit,
} from '../reader.ts';
import { pageLinks } from '../repository/freeze-list.ts';
import { auditFilters, auditLink, type AuditView, filterOf, readAuditView } from './audit-view.ts';
import { actList, namesInEvents } from './event-list.ts';
import { type ReadPage, withWholeActs } from './whole-acts.ts';

const eventsPerPage = 50;
/** The most events of a download. */
const mostDownloaded = 10_000;
const readAtOnce = 500;

/** A log that the viewer may see. */
type ShownLog = {
  place: LogPlace;
  /** `acme` or `acme/web`. */
  name: string;
  login: string;
  page: Pick<LayoutPage, 'tab' | 'crumbs'>;
  /** The repositories to choose from; null on the page of one. */
  repositories: string[] | null;
  /** Whether the viewer is an admin of the owner. For others, repositories may be missing. */
  isOwners: boolean;
};

/** `GET /repos/{owner}/{repository}/audit`: the audit log of a repository, for its admins, freezers and approvers. */
export async function showRepositoryAudit(visit: RepositoryVisit): Promise<Response> {
  const { viewer, repository } = visit;
  if (!viewer) return absentOrSignIn(visit);
  const permission = await permissionOf(visit);
  if (permission === 'unknown') return silentPage(visit);
  const { account, name, accountId, id } = repository;
  const isByRole = permission !== 'admin';
  if (isByRole && !(await hasAnyRole(visit, permission)))
    return notForThem(visit, fullName(repository), repositoryPath(repository));
  return show(visit, {
    place: { accountId, repositoryId: id, isByRole },
    name: fullName(repository),
    login: account.login,
    page: { tab: 'audit', crumbs: [{ name, href: repositoryPath(repository) }, { name: 'Audit' }] },
    repositories: null,
    isOwners: false,
  });
}

/**
 * `GET /owners/{owner}/audit`: the log of an owner, with those of the repositories that the viewer is an admin, freezer
 * or approver of.
 */
export async function showOwnerAudit(visit: OwnerVisit): Promise<Response> {
  const { context, viewer, account, isAdmin } = visit;
  if (!viewer) return absentOrSignIn(visit);
  const { administered, byRole } = await insideOf({ ...visit, viewer });
  const theirs = [...administered, ...byRole];
  const { login, id: accountId } = account;
  if (theirs.length === 0 && !isAdmin) return notForThem(visit, login);
  const asked = context.req.query('repository')?.trim().toLowerCase();
  const idsOf = (some: RepositoryState[]) =>
    some.filter(({ name }) => !asked || name.toLowerCase() === asked).map(({ id }) => id);
  const some = { repositories: idsOf(administered), byRole: idsOf(byRole) };
  return show(visit, {
    place: { accountId, alsoOf: isAdmin && !asked ? 'all' : some },
    name: login,
    login,
    page: { tab: 'audit' },
    repositories: theirs.map(({ name }) => name).toSorted(),
    isOwners: isAdmin,
  });
}

/** Answers whoever may not see who did what. @param name of the owner, or of the repository. */
export function notForThem(
  { context, viewer }: Visit,
  name: string,
  back = ownerPath(name),
): Promise<Response> {
  const text = `On GitHub, you aren't an admin of ${name}, and its settings give you no role. Only its admins, freezers and approvers see who did what. Ask one of them.`;
  const link = { href: back, text: `Back to ${name}` };
  return messagePage(context, { status: 403, title: 'You cannot see the audit log', text, link }, viewer);
}

async function show(visit: Visit, log: ShownLog): Promise<Response> {
  const { deps, context } = visit;
  const view = readAuditView(context.req.query());
  const times = readerTimes(visit);
  const read = (cursor: string | null, perPage: number) =>
    listEvents(deps, log.place, filterOf(view, times), { perPage, cursor: cursor ?? undefined });
  const format = context.req.query('format');
  if (format === 'csv' || format === 'jsonl') {
    const day = times.now.toISOString().slice(0, 10);
    const file = `audit-${log.name.replace('/', '-')}-${day}.${format}`;
    return download(linesOf(format, read, log.isOwners), file, contentTypes[format]);
  }
  const { page, problem } = await firstPageInstead(view, read);
  const whole = await withWholeActs(page, read);
  const body = html`<h1>Audit log of ${log.name}</h1>
    ${
      log.repositories === null
        ? ''
        : html`<nav class="bar-of-links" aria-label="Audit">
            <a href="${auditPath(log.login)}" aria-current="page">Events</a>
            <a href="${reportsPath(log.login)}">Months</a>
          </nav>`
    }
    ${problem === null ? '' : html`<p class="notice" role="status">${problem}</p>`}
    ${auditFilters(view, log.repositories)}
    <p class="bar-of-links">
      <a href="${auditLink(view, { format: 'csv' })}" download>Download CSV</a>
      <a href="${auditLink(view, { format: 'jsonl' })}" download>Download JSON lines</a>
      <span class="muted"
        >What the filters select, at most the newest ${mostDownloaded.toLocaleString('en')} events.</span
      >
    </p>
    ${
      whole.events.length > 0
        ? actList(actsIn(whole.events), times, {
            ...log,
            named: await namesInEvents(deps, whole.events),
            isOfMany: log.repositories !== null,
          })
        : html`<p class="card">No events. Choose a longer time or fewer filters.</p>`
    }
    ${pageLinks('Pages of the audit log', [
      ['Newer events', whole.previous && auditLink(view, { cursor: whole.previous })],
      ['Older events', whole.next && auditLink(view, { cursor: whole.next })],
    ])}
    ${log.repositories !== null && !log.isOwners ? html`<p class="muted">You aren’t an admin of ${log.login}, so this page has only repositories that you are an admin, freezer or approver of, and some of those may be missing. Open the audit log of a repository from its page.</p>` : ''}`;
  const title = `Audit log of ${log.name}`;
  return showPage(visit, { title, body, owner: log.login, ...log.page });
}

/** The page of the cursor; if that is not ours, the first one. */
async function firstPageInstead(
  { cursor }: AuditView,
  read: ReadPage,
): Promise<{ page: EventPage; problem: string | null }> {
  try {
    return { page: await read(cursor, eventsPerPage), problem: null };
  } catch (error) {
    if (!(error instanceof Refusal) || cursor === null) throw error;
    return { page: await read(null, eventsPerPage), problem: error.message };
  }
}

const contentTypes = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/jsonl; charset=utf-8',
};

async function* linesOf(
  format: keyof typeof contentTypes,
  read: ReadPage,
  isOwners: boolean,
): AsyncGenerator<Buffer> {
  const lineOf = format === 'csv' ? csvRow : (event: LoggedEvent) => `${JSON.stringify(event)}\n`;
  if (format === 'csv') yield Buffer.from(csvHeader());
  let cursor: string | null = null;
  for (let left = mostDownloaded; left > 0; left -= readAtOnce) {
    const page = await read(cursor, Math.min(left, readAtOnce));
    yield Buffer.from(page.events.map((event) => lineOf(presentEvent(event, isOwners))).join(''));
    cursor = page.next;
    if (cursor === null) return;
  }
}

const download = (lines: AsyncGenerator<Buffer>, file: string, type: string): Response =>
  new Response(Readable.toWeb(Readable.from(lines)) as ReadableStream, {
    headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${file}"` },
  });
