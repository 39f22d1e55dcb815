import { html } from 'hono/html';
import { isTooManyRequests, isUnavailable } from '../../errors.ts';
import type { FoundRepository } from '../../repositories/find-repository.ts';
import { missingForSignIn, signInSettings } from '../../sign-in/sign-in-settings.ts';
import type { Html } from '../layout.ts';
import { signInPath } from '../page-paths.ts';
import { type PageDeps, rememberReader, type Viewer } from '../reader.ts';

/**
 * Whether the viewer of a page may see what tells of weak places and of people: whether freezes are enforced, and the
 * audit log. Of a private repository everybody who reads it; of a public one, which anybody reads, who can write to it.
 * @returns null where they may, else what to tell them.
 */
export async function refuseOutsiders(
  deps: PageDeps,
  repository: FoundRepository,
  viewer: Viewer,
  path: string,
): Promise<Html | null> {
  if (repository.private) return null;
  if (!viewer)
    return signInSettings(deps.config) ? signInFirst(path) : notSetUp(missingForSignIn(deps.config));
  try {
    const permission = await deps.readers.permission(deps, viewer, repository);
    if (permission !== 'admin' && permission !== 'write') return notYours;
    await rememberReader(deps, viewer);
    return null;
  } catch (error) {
    if (!isUnavailable(error) && !isTooManyRequests(error)) throw error;
    return silent;
  }
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
