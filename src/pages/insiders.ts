import { html } from 'hono/html';
import { missingForSignIn, signInSettings } from '../auth/sign-in/github-identity.ts';
import type { RepositoryState } from '../explanations/repository-states.ts';
import { asPublic, type Freeze } from '../freezes/freeze.ts';
import type { Html } from './html.ts';
import { idsWithRole, type OwnerVisit, permissionsOf } from './owner/open-owner.ts';
import {
  hasAnyRole,
  permissionOf,
  rememberReader,
  type RepositoryVisit,
  signInAndReturn,
  unlessUnsaid,
} from './reader.ts';

// Who sees of a public repository what is not public.

/**
 * Whether the viewer is an insider, who may see weak spots and people's names: whether freezes are enforced, the audit
 * log, and reasons that are not public. Insiders of a private repository are all its readers. Insiders of a public
 * repository are the people who can write to it or have a role there. `unknown` while GitHub does not answer.
 */
async function standingOf(visit: RepositoryVisit): Promise<'insider' | 'stranger' | 'outsider' | 'unknown'> {
  const { deps, repository, viewer } = visit;
  if (repository.private) return 'insider';
  if (!viewer) return 'stranger';
  const permission = await permissionOf(visit);
  if (permission === 'unknown') return 'unknown';
  const mayWrite = permission === 'admin' || permission === 'write';
  const isInside = mayWrite || (await unlessUnsaid(hasAnyRole(visit, permission)));
  if (!isInside) return isInside === null ? 'unknown' : 'outsider';
  await rememberReader(deps, viewer);
  return 'insider';
}

export const isInsider = async (visit: RepositoryVisit): Promise<boolean> =>
  (await standingOf(visit)) === 'insider';

/** Of about how many public repositories GitHub is asked what the viewer can do, beyond those of the visit. */
const mostInsidesAsked = 10;

/** Those repositories, of some of an owner that the viewer can read, of which they are an insider, as far as GitHub says so. */
export async function insidesAmong(visit: OwnerVisit, some: RepositoryState[]): Promise<ReadonlySet<bigint>> {
  const { deps, viewer, isAdmin } = visit;
  const idsOf = (those: RepositoryState[]) => new Set(those.map(({ id }) => id));
  const open = some.filter((each) => !each.private);
  if (isAdmin || open.length === 0) return idsOf(some);
  const inside = idsOf(some.filter((each) => each.private));
  if (!viewer) return inside;
  const unasked = open.filter(({ id }) => !visit.permissions.has(id)).slice(0, mostInsidesAsked);
  const asked = await unlessUnsaid(permissionsOf(deps, viewer, unasked, {}));
  const permissions = new Map([...visit.permissions, ...(asked ?? [])]);
  const mayWrite = ({ id }: RepositoryState) => ['admin', 'write'].includes(permissions.get(id) ?? 'none');
  const writable = idsOf(open.filter(mayWrite));
  // Everybody can read a public repository, so a role there counts even where GitHub was not asked.
  const others = new Map(open.flatMap(({ id }) => (writable.has(id) ? [] : [[id, 'read'] as const])));
  const withRole = idsWithRole({ ...visit, viewer, permissions: others }, ['freezer', 'approver']);
  return new Set([...inside, ...writable, ...((await unlessUnsaid(withRole)) ?? [])]);
}

/** @returns null for an insider, else the message for the viewer. */
export async function refuseOutsiders(visit: RepositoryVisit): Promise<Html | null> {
  const { config } = visit.deps;
  switch (await standingOf(visit)) {
    case 'insider':
      return null;
    case 'stranger':
      return signInSettings(config)
        ? html`<p>${shownTo}. <a href="${signInAndReturn(visit.context)}">Sign in with GitHub</a>.</p>`
        : html`<p>
            ${shownTo}. Sign-in is not set up: ask the people who run this service to set
            ${missingForSignIn(config)}.
          </p>`;
    case 'outsider':
      return html`<p>${shownTo}.</p>`;
    case 'unknown':
      return html`<p>${shownTo}. GitHub does not say whether you can. Reload the page in a moment.</p>`;
  }
}

/**
 * How to show freezes to the viewer.
 * @param freezes all freezes of the page. GitHub is asked about the viewer only if one of them has a public reason.
 */
export async function reading(
  visit: RepositoryVisit,
  freezes: Pick<Freeze, 'publicReason'>[],
): Promise<typeof asPublic> {
  if (freezes.every(({ publicReason }) => typeof publicReason !== 'string')) return asPublic;
  return (await isInsider(visit)) ? (freeze) => freeze : asPublic;
}

const shownTo =
  'Only people who can write to this repository see the audit log and whether freezes are enforced';
