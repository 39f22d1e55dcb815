import { html } from 'hono/html';
import type { Deps } from '../../deps.ts';
import { settingsOf } from '../../explanations/enforcement/read-service.ts';
import { isUnavailable } from '../../errors.ts';
import { askGitHub } from '../../github/ask-github.ts';
import { asksForComments, type Grants, missingForComments } from '../../github/app-manifest.ts';
import { webUrlOf } from '../../github/web-url.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import type { Html } from '../layout.ts';
import { step } from './step.ts';

/** Whether people can use commands in comments. */
export type Commands = {
  /** Whether the App requests the permissions for it. */
  isAsked: boolean;
  /** The permissions that the owner has not granted. */
  missing: string[];
  /** The App's settings page, where its permissions are. */
  settings: string;
};

/** @returns null while GitHub does not say what the App requests. */
export async function readCommands(deps: Deps, { installation }: InstalledAccount): Promise<Commands | null> {
  try {
    const app = await askGitHub(deps, 'App', 'what the App asks for', async () => {
      const { rest } = await deps.github.asApp();
      return (await rest.apps.getAuthenticated()).data!;
    });
    return {
      isAsked: asksForComments(app),
      missing: missingForComments({ permissions: installation.permissions as Grants['permissions'] }),
      settings: settingsOf(webUrlOf(deps.config.githubApiUrl), app),
    };
  } catch (error) {
    if (isUnavailable(error)) return null;
    throw error;
  }
}

const title = 'People can use commands in comments';

/** @param installation the page of the installation on GitHub. */
export function commandsStep(commands: Commands | null, installation: string): Html {
  if (!commands)
    return step(false, title, html`<p>GitHub does not answer. Reload the page in a moment.</p>`, 'Optional');
  const { isAsked, missing, settings } = commands;
  const isDone = isAsked && missing.length === 0;
  const accept = html`<a href="${installation}" rel="noreferrer">the installation on GitHub</a>`;
  const content = isDone
    ? html`<p>For example, <code>/holdfast freeze 2h INC-4711</code> in the first line of a comment.</p>`
    : isAsked
      ? html`<p>Ask an owner to accept ${missing.join(' and ')} in ${accept}.</p>`
      : html`<p>
          This step is optional. Add two permissions in
          <a href="${settings}/permissions" rel="noreferrer">the App’s settings</a>: <i>Issues: read</i>, so
          that GitHub sends comments to Holdfast, and <i>Pull requests: read and write</i>, so that Holdfast
          can reply. Subscribe to the <i>Issue comment</i> event there too. Then ask an owner to accept the
          new permissions in ${accept}.
        </p>`;
  return step(isDone, title, content, isAsked ? 'To do' : 'Optional');
}
