import { html } from 'hono/html';
import type { Tx } from '../../database/database.ts';
import { type Deployment, environmentKey } from '../../deployments/deployment.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { fullName } from '../../installations/find-repository.ts';
import { shorten } from '../../words/event-words.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import { freezePath } from '../../page-paths.ts';
import type { Html } from '../html.ts';
import type { PageDeps } from '../reader.ts';
import { instantText, type Times } from '../text.ts';

// What somebody who decides on a request has to know of the pull request or deployment, so that they need no other page.

/** The repository of a request, as cards and lists name it. */
export type RequestPlace = { id: bigint; name: string; account: { login: string } };

/** A request among others. */
type ListedRequest = { exemption: ExemptionRecord; repository: RequestPlace };

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

/** A freeze that blocks it, as statements give it. */
type BlockingRow = { id: string; reason: string; endsAt: string | null; timezone: string };

/** SQL for the freezes of a list of ids that are not over, the first one first. */
const blockingAmong = (ids: Prisma.Sql, now: Date): Prisma.Sql => Prisma.sql`(
  SELECT json_agg(json_build_object('id', f.id, 'reason', f.reason, 'endsAt', f.ends_at, 'timezone', f.timezone)
    ORDER BY f.starts_at, f.id)
  FROM freezes f WHERE f.id = ANY (${ids}) AND f.deleted_at IS NULL AND (f.ends_at IS NULL OR f.ends_at > ${now})
) AS blocking`;

/**
 * What is known of what listed requests are for, as far as the tables have it: of pull requests titles, authors, sizes and
 * checks; of deployments run, commit, and who started it; and the freezes with their ends. A statement for each kind.
 */
export async function aboutListed(
  deps: Pick<PageDeps, 'db' | 'config'>,
  listed: ListedRequest[],
  times: Times,
): Promise<(request: ListedRequest) => Html> {
  const [ofPullRequests, ofDeployments] = await Promise.all([
    aboutPullRequests(deps.db, listed, times),
    aboutDeployments(deps, listed, times),
  ]);
  return (request) => (request.exemption.deployment ? ofDeployments(request) : ofPullRequests(request));
}

async function aboutPullRequests(
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
      blocking: BlockingRow[] | null;
    }[]
  >`
    SELECT p.repository_id || ' ' || p.number AS key, p.title, p.author, p.added_lines AS added,
      p.deleted_lines AS deleted, p.check_counts AS checks, ${blockingAmong(Prisma.sql`p.held_by`, times.now)}
    FROM open_pull_requests p
    WHERE p.repository_id = ANY (${asked.map(({ repository }) => repository.id)}::int8[])
      AND p.number = ANY (${asked.map(({ exemption }) => exemption.pullRequest)}::int[])`;
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return ({ exemption, repository }) => {
    const row = byKey.get(`${repository.id} ${exemption.pullRequest}`);
    if (!row) return html``;
    return html`${row.title === null ? '' : html`<p class="title"><strong dir="auto">${row.title}</strong></p>`}
    ${written(row.author, row.added, row.deleted)} ${checksOf(row.checks)}
    ${blockedBy(repository, row.blocking, times)}`;
  };
}

type DeploymentRow = { id: string; runId: string; runNumber: number; blocking: BlockingRow[] | null } & Pick<
  Deployment,
  'workflow' | 'ref' | 'sha' | 'startedBy' | 'commitTitle'
>;

/** Each with the newest run that it would let go. */
async function aboutDeployments(
  { db, config }: Pick<PageDeps, 'db' | 'config'>,
  listed: ListedRequest[],
  times: Times,
): Promise<(request: ListedRequest) => Html> {
  const asked = listed.flatMap(({ exemption: { id, deployment }, repository }) =>
    deployment
      ? {
          ...{ id, repository_id: String(repository.id), sha: deployment.sha },
          environment: environmentKey(deployment.environment),
          run_id: deployment.runId === null ? null : String(deployment.runId),
        }
      : [],
  );
  if (asked.length === 0) return () => html``;
  const rows = await db.$queryRaw<DeploymentRow[]>`
    SELECT asked.id, d.run_id::text AS "runId", d.run_number AS "runNumber", d.workflow, d.ref, d.sha,
      d.started_by AS "startedBy", d.commit_title AS "commitTitle", ${blockingAmong(Prisma.sql`d.freeze_ids`, times.now)}
    FROM jsonb_to_recordset(${JSON.stringify(asked)}::jsonb)
      AS asked(id text, repository_id int8, environment text, run_id int8, sha text),
      LATERAL (SELECT * FROM deployments WHERE deployments.repository_id = asked.repository_id
        AND environment_key = asked.environment AND state = 'waiting' AND (deployments.run_id = asked.run_id OR deployments.sha = asked.sha)
        ORDER BY requested_at DESC LIMIT 1) AS d`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  const web = webUrlOf(config.githubApiUrl);
  return ({ exemption: { id, deployment }, repository }) => {
    const { environment, sha, runId } = deployment!;
    const url = `${web}/${fullName(repository)}`;
    const row = byId.get(id);
    const to = html`to <strong><bdi>${environment}</bdi></strong>`;
    if (!row)
      return html`<p>
        ${sha === null ? runLink(url, String(runId), 'Run', String(runId)) : commitLink(url, sha)} ${to}.
        Holdfast knows no run of it that waits.
      </p>`;
    return html`${row.commitTitle === null ? '' : html`<p class="title"><strong dir="auto">${row.commitTitle}</strong></p>`}
      <p>${runLink(url, row.runId, row.workflow, String(row.runNumber))} ${to}</p>
      <p class="muted">
        ${commitLink(url, row.sha)} of
        <bdi>${row.ref}</bdi>${row.startedBy === null ? '' : html`, started by <bdi>${row.startedBy}</bdi>`}
      </p>
      ${blockedBy(repository, row.blocking, times)}`;
  };
}

/** @param url of the repository at GitHub. */
const runLink = (url: string, id: string, workflow: string, number: string): Html =>
  html`<a href="${url}/actions/runs/${id}" rel="noreferrer"><bdi>${workflow}</bdi> ${number}</a>`;

const commitLink = (url: string, sha: string): Html =>
  html`<a href="${url}/commit/${sha}" rel="noreferrer">commit <code>${sha.slice(0, 7)}</code></a>`;

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

const blockedBy = (repository: RequestPlace, freezes: BlockingRow[] | null, times: Times): Html =>
  !freezes
    ? html`<p>No freeze blocks it now.</p>`
    : html`<p>
        Blocked by
        ${freezes.map(
          ({ id, reason, endsAt, timezone }, index) =>
            html`${index > 0 ? ', ' : ''}<a href="${freezePath(repository, id)}" dir="auto"
                >${shorten(reason, 120)}</a
              >
              ${endsAt ? html`until ${instantText(new Date(endsAt), times, timezone)}` : 'until removed'}`,
        )}.
      </p>`;
