import { html } from 'hono/html';
import { missingForSignIn, signInSettings } from '../auth/sign-in/github-identity.ts';
import { asPublic, type Freeze } from '../freezes/freeze.ts';
import type { Html } from './html.ts';
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
