import { html } from 'hono/html';
import { within } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { isUnavailable } from '../errors.ts';
import { settingsOf } from '../explanations/enforcement/read-service.ts';
import {
  asksForComments,
  asksForDeployments,
  type Grants,
  missingForComments,
  missingForDeployments,
} from '../github/app-manifest.ts';
import { askGitHub } from '../github/ask-github.ts';
import { webUrlOf } from '../github/web-url.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import type { Html } from './layout.ts';

// What works only if the owner of the App requests more permissions, and each account accepts them. GitHub has no API
// to change what an App requests.

const extras = {
  comments: {
    asks: (app: Grants) => asksForComments(app),
    missingFrom: missingForComments,
    permissions: html`<i>Issues: read</i>, so that GitHub sends comments to Holdfast, and
      <i>Pull requests: read and write</i>, so that Holdfast can reply`,
    event: 'Issue comment',
  },
  deployments: {
    asks: (app: Grants) => asksForDeployments(app) && missingForDeployments(app).length === 0,
    missingFrom: missingForDeployments,
    permissions: html`<i>Deployments: read and write</i>, so that Holdfast can approve or reject deployments
      that wait, and <i>Actions: read</i>, so that it finds them`,
    event: 'Deployment protection rule',
  },
};
type Extra = keyof typeof extras;

/** What the App requests and an account granted, and the pages on GitHub where people change that. */
export type ExtraPermissions = {
  requested: Record<Extra, boolean>;
  /** The permissions that the account has not granted. */
  missing: Record<Extra, string[]>;
  settings: string;
  installation: string;
};

/** An account that installed the App. */
type Installed = Pick<FoundRepository, 'account'> & {
  installation: Pick<FoundRepository['installation'], 'id' | 'permissions'>;
};

/** The page of an installation on GitHub. */
export function installationPage(deps: Pick<Deps, 'config'>, { account, installation }: Installed): string {
  const owner = account.type === 'Organization' ? `organizations/${account.login}/` : '';
  return `${webUrlOf(deps.config.githubApiUrl)}/${owner}settings/installations/${installation.id}`;
}

/** Milliseconds that a page waits. */
const patience = 2_000;

/** @returns null while GitHub does not say what the App requests. */
export async function readExtraPermissions(deps: Deps, to: Installed): Promise<ExtraPermissions | null> {
  try {
    const asked = askGitHub(deps, 'App', 'what the App asks for', async () => {
      const { rest } = await deps.github.asApp();
      return (await rest.apps.getAuthenticated()).data!;
    });
    const app = await within(patience, asked);
    if (!app) return null;
    const requested = { permissions: app.permissions as Grants['permissions'], events: app.events };
    const permissions = to.installation.permissions as Grants['permissions'];
    const { comments, deployments } = extras;
    return {
      requested: { comments: comments.asks(requested), deployments: deployments.asks(requested) },
      missing: {
        comments: comments.missingFrom({ permissions }),
        deployments: deployments.missingFrom({ permissions }),
      },
      settings: settingsOf(webUrlOf(deps.config.githubApiUrl), app),
      installation: installationPage(deps, to),
    };
  } catch (error) {
    if (isUnavailable(error)) return null;
    throw error;
  }
}

/** Whether the account granted what an extra takes. */
export const isGranted = (found: ExtraPermissions | null, extra: Extra): found is ExtraPermissions =>
  found !== null && found.requested[extra] && found.missing[extra].length === 0;

/** How to grant what an extra takes; for what is not granted yet. */
export function howToGrant(found: ExtraPermissions | null, extra: Extra): Html {
  if (!found) return html`<p>GitHub does not answer. Reload the page in a moment.</p>`;
  const { permissions, event } = extras[extra];
  const accept = html`<a href="${found.installation}" rel="noreferrer">the installation on GitHub</a>`;
  return found.requested[extra]
    ? html`<p>Ask an owner to accept ${found.missing[extra].join(' and ')} in ${accept}.</p>`
    : html`<p>
        This takes two more permissions. Add them in
        <a href="${found.settings}/permissions" rel="noreferrer">the App’s settings</a>: ${permissions}.
        Subscribe to the <i>${event}</i> event there too. Then ask an owner to accept the new permissions in
        ${accept}.
      </p>`;
}
