import { html } from 'hono/html';
import type { Tx } from '../../database/database.ts';
import { shorten } from '../../words/event-words.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import { freezePath } from '../../page-paths.ts';
import type { Html } from '../html.ts';
import { instantText, type Times } from '../text.ts';

// What somebody who decides on a request has to know of the pull request, so that they need no other page.

/** The repository of a request, as cards and lists name it. */
export type RequestPlace = { id: bigint; name: string; account: { login: string } };

/** A request among others. */
type ListedRequest = { exemption: ExemptionRecord; repository: RequestPlace };

type Blocking = { id: string; reason: string; endsAt: Date | null; timezone: string };

/** `By bob · +12 −3 into main`: who wrote it, how large it is, and where it goes. */
export const written = (
  author: string | null,
  added: number | null,
  deleted: number | null,
  base?: string,
): Html =>
  html`<p class="muted written-by">
    ${author === null ? '' : html`By <bdi>${author}</bdi>`}
    ${added === null ? '' : html`<span class="added"><span aria-hidden="true">+${added}</span><span class="said">${added} lines added</span></span> <span class="deleted"><span aria-hidden="true">−${deleted}</span><span class="said">and ${deleted} deleted</span></span>`}
    ${base === undefined ? '' : html`into <code>${base}</code>`}
  </p>`;

/** What is known of the pull requests of listed requests, as far as the tables have it: titles, authors, sizes, checks, and freezes with their ends. One statement. */
export async function aboutListed(
  db: Tx,
  listed: ListedRequest[],
  times: Times,
): Promise<(request: ListedRequest) => Html> {
  const asked = listed.filter(({ exemption }) => !exemption.deployment);
  if (asked.length === 0) return () => html``;
  const rows = await db.$queryRaw<
    {
      key: string;
      title: string | null;
      author: string | null;
      added: number | null;
      deleted: number | null;
      checks: number[];
      blocking: (Omit<Blocking, 'endsAt'> & { endsAt: string | null })[] | null;
    }[]
  >`
    SELECT p.repository_id || ' ' || p.number AS key, p.title, p.author, p.added_lines AS added,
      p.deleted_lines AS deleted, p.check_counts AS checks, (
      SELECT json_agg(json_build_object('id', f.id, 'reason', f.reason, 'endsAt', f.ends_at, 'timezone', f.timezone)
        ORDER BY f.starts_at, f.id)
      FROM freezes f WHERE f.id = ANY (p.held_by) AND f.deleted_at IS NULL AND (f.ends_at IS NULL OR f.ends_at > ${times.now})
    ) AS blocking
    FROM open_pull_requests p
    WHERE p.repository_id = ANY (${asked.map(({ repository }) => repository.id)}::int8[])
      AND p.number = ANY (${asked.map(({ exemption }) => exemption.pullRequest)}::int[])`;
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return ({ exemption, repository }) => {
    const row = byKey.get(`${repository.id} ${exemption.pullRequest}`);
    if (exemption.deployment || !row) return html``;
    const blocking = (row.blocking ?? []).map((each) => ({
      ...each,
      endsAt: each.endsAt === null ? null : new Date(each.endsAt),
    }));
    return html`${row.title === null ? '' : html`<p class="title"><strong dir="auto">${row.title}</strong></p>`}
    ${written(row.author, row.added, row.deleted)} ${checksOf(row.checks)}
    ${blockedBy(repository, blocking, times)}`;
  };
}

/** `12 checks passing, 1 failing, 2 pending`. @param counts as the table has them. */
function checksOf(counts: number[]): Html {
  const names = ['passing', 'failing', 'pending'];
  const parts = counts.flatMap((count, at) => (count > 0 ? [{ count, name: names[at]! }] : []));
  if (counts.length === 0) return html`<p class="muted">Checks unknown</p>`;
  if (parts.length === 0) return html`<p class="muted">No checks</p>`;
  return html`<p>
    Checks:
    ${parts.map(({ count, name }, at) => html`${at > 0 ? ', ' : ''}${name === 'failing' ? html`<strong class="leaking">${count} failing</strong>` : `${count} ${name}`}`)}
  </p>`;
}

const blockedBy = (repository: RequestPlace, freezes: Blocking[], times: Times): Html =>
  freezes.length === 0
    ? html``
    : html`<p>
        Blocked by
        ${freezes.map(
          ({ id, reason, endsAt, timezone }, index) =>
            html`${index > 0 ? ', ' : ''}<a href="${freezePath(repository, id)}" dir="auto"
                >${shorten(reason, 120)}</a
              >
              ${endsAt ? html`until ${instantText(endsAt, times, timezone)}` : 'until removed'}`,
        )}.
      </p>`;
