import { html } from 'hono/html';
import { asPublic, type Freeze } from '../../freezes/freeze.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { missingForSignIn, signInSettings } from '../../auth/sign-in/sign-in-settings.ts';
import type { Html } from '../layout.ts';
import { signInPath } from '../../page-paths.ts';
import { type PageDeps, permissionOf, rememberReader, type Viewer } from '../reader.ts';

/** How the viewer of a page stands to its repository; `unknown` while GitHub does not say. */
type Standing = 'insider' | 'stranger' | 'outsider' | 'unknown';

/**
 * Whether the viewer of a page may see what tells of weak places and of people: whether freezes are enforced, the
 * audit log, and reasons that are not public. Of a private repository everybody who reads it; of a public one, which
 * anybody reads, who can write to it.
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

/** @returns null for an insider, else what to tell the viewer. */
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
 * How the viewer reads freezes.
 * @param freezes all of the page: GitHub is asked for the viewer's standing only where one has a public reason.
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
  'Whether freezes are enforced, and the audit log, are shown to people who can write to this repository';

const signInFirst = (path: string): Html =>
  html`<p>${shownTo}: <a href="${signInPath(path)}">sign in with GitHub</a>.</p>`;

const notSetUp = (missing: string): Html =>
  html`<p>
    ${shownTo}, when they have signed in. That is not set up: whoever runs this service has to set ${missing}.
  </p>`;

const notYours = html`<p>${shownTo}. On GitHub, you cannot.</p>`;

const silent = html`<p>
  ${shownTo}. GitHub does not say now whether you can: load the page again in a moment.
</p>`;
