import { html } from 'hono/html';
import type { Tx } from '../../database/database.ts';
import { shorten } from '../../events/event-words.ts';
import type { ExemptionRecord } from '../../freezes/exemptions/exemption-store.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { freezePath } from '../../installations/page-paths.ts';
import type { Html } from '../layout.ts';
import { instant, type Times } from '../text.ts';
import type { ShownPullRequest } from './shown-pull-request.ts';

// What somebody who decides on a request has to know of the pull request, so that they need no other page.

type Blocking = { id: string; reason: string; endsAt: Date | null; timezone: string };

/** The author and the size, as GitHub said, and the freezes that block it. */
export function aboutShown(
  repository: FoundRepository,
  { live, holding }: ShownPullRequest,
  times: Times,
): Html {
  const values = live?.pullRequest.facts.values;
  const [added, deleted, files] = [values?.['added-lines'], values?.['deleted-lines'], values?.['#files']];
  const size = `${String(added)} lines added and ${String(deleted)} deleted in ${String(files)} ${files === 1 ? 'file' : 'files'}`;
  const author = live?.pullRequest.author;
  return html`${live ? html`<p>${author ? html`By <bdi>${author}</bdi>: ` : ''}${size}.</p>` : ''}
  ${blockedBy(
    repository,
    holding.map(({ freeze }) => freeze),
    times,
  )}`;
}

/** The same for requests of a list, as far as the tables have it: titles, and freezes with their ends. One statement. */
export async function aboutListed(
  db: Tx,
  listed: { exemption: ExemptionRecord; repository: FoundRepository }[],
  times: Times,
): Promise<(request: { exemption: ExemptionRecord; repository: FoundRepository }) => Html> {
  const asked = listed.filter(({ exemption }) => !exemption.deployment);
  if (asked.length === 0) return () => html``;
  const rows = await db.$queryRaw<
    {
      key: string;
      title: string | null;
      blocking: (Omit<Blocking, 'endsAt'> & { endsAt: string | null })[] | null;
    }[]
  >`
    SELECT p.repository_id || ' ' || p.number AS key, p.title, (
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
    return html`${row.title === null ? '' : html`<p><strong dir="auto">${row.title}</strong></p>`}
    ${blockedBy(repository, blocking, times)}`;
  };
}

const blockedBy = (repository: FoundRepository, freezes: Blocking[], times: Times): Html =>
  freezes.length === 0
    ? html``
    : html`<p>
        Blocked by
        ${freezes.map(
          ({ id, reason, endsAt, timezone }, index) =>
            html`${index > 0 ? ', ' : ''}<a href="${freezePath(repository, id)}" dir="auto"
                >${shorten(reason, 120)}</a
              >
              ${endsAt ? html`until ${instant(endsAt, times, timezone)}` : 'until removed'}`,
        )}.
      </p>`;
