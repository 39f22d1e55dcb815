import { html } from 'hono/html';
import { asPublic, type Freeze } from '../../freezes/freeze.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { missingForSignIn, signInSettings } from '../../auth/sign-in/github-identity.ts';
import type { Html } from '../layout.ts';
import { signInPath } from '../../installations/page-paths.ts';
import { type PageDeps, permissionOf, rememberReader, type Viewer } from '../reader.ts';

/** The viewer's relation to the repository; `unknown` while GitHub does not answer. */
type Standing = 'insider' | 'stranger' | 'outsider' | 'unknown';

/**
 * Whether the viewer is an insider, who may see weak spots and people's names: whether freezes are enforced, the audit
 * log, and reasons that are not public. Insiders of a private repository are all its readers. Insiders of a public
 * repository are the people who can write to it.
 */
async function standingOf(deps: PageDeps, repository: FoundRepository, viewer: Viewer): Promise<Standing> {
  if (repository.private) return 'insider';
  if (!viewer) return 'stranger';
  const permission = await permissionOf(deps, repository, viewer);
  if (permission === 'unknown') return 'unknown';
  if (permission !== 'admin' && permission !== 'write') return 'outsider';
  await rememberReader(deps, viewer);
  return 'insider';
}

export const isInsider = async (
  deps: PageDeps,
  repository: FoundRepository,
  viewer: Viewer,
): Promise<boolean> => (await standingOf(deps, repository, viewer)) === 'insider';

/** @returns null for an insider, else the message for the viewer. */
export async function refuseOutsiders(
  deps: PageDeps,
  repository: FoundRepository,
  viewer: Viewer,
  path: string,
): Promise<Html | null> {
  switch (await standingOf(deps, repository, viewer)) {
    case 'insider':
      return null;
    case 'stranger':
      return signInSettings(deps.config) ? signInFirst(path) : notSetUp(missingForSignIn(deps.config));
    case 'outsider':
      return notYours;
    case 'unknown':
      return silent;
  }
}

/**
 * How to show freezes to the viewer.
 * @param freezes all freezes of the page. GitHub is asked about the viewer only if one of them has a public reason.
 */
export async function reading(
  deps: PageDeps,
  repository: FoundRepository,
  viewer: Viewer,
  freezes: Pick<Freeze, 'publicReason'>[],
): Promise<typeof asPublic> {
  if (freezes.every(({ publicReason }) => typeof publicReason !== 'string')) return asPublic;
  return (await isInsider(deps, repository, viewer)) ? (freeze) => freeze : asPublic;
}

const shownTo =
  'Only people who can write to this repository see the audit log and whether freezes are enforced';

const signInFirst = (path: string): Html =>
  html`<p>${shownTo}. <a href="${signInPath(path)}">Sign in with GitHub</a>.</p>`;

const notSetUp = (missing: string): Html =>
  html`<p>${shownTo}. Sign-in is not set up: ask the people who run this service to set ${missing}.</p>`;

const notYours = html`<p>${shownTo}.</p>`;

const silent = html`<p>${shownTo}. GitHub does not say whether you can. Reload the page in a moment.</p>`;
