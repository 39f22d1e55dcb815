import { html } from 'hono/html';
import type { Deps } from '../../deps.ts';
import { settingsOf } from '../../enforcement/read-service.ts';
import { isUnavailable } from '../../errors.ts';
import { askGitHub } from '../../github/ask-github.ts';
import { asksForComments, type Grants, missingForComments } from '../../github/app-manifest.ts';
import { webUrlOf } from '../../github/web-url.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import type { Html } from '../layout.ts';
import { step } from './step.ts';

/** Whether people can write commands in comments. */
export type Commands = {
  /** Whether the App asks for that. */
  isAsked: boolean;
  /** What the owner has not granted of it. */
  missing: string[];
  /** The page of the App's settings, where its permissions are. */
  settings: string;
};

/** @returns null while GitHub does not say what the App asks for. */
export async function readCommands(deps: Deps, { installation }: InstalledAccount): Promise<Commands | null> {
  try {
    const app = await askGitHub(deps, 'what the App asks for', async () => {
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

const title = 'People write commands in comments';

/** @param installation the page of the installation on GitHub. */
export function commandsStep(commands: Commands | null, installation: string): Html {
  if (!commands)
    return step(
      false,
      title,
      html`<p>GitHub does not say now what the App asks for. Load the page again in a moment.</p>`,
      'Optional',
    );
  const { isAsked, missing, settings } = commands;
  const isDone = isAsked && missing.length === 0;
  const accept = html`<a href="${installation}" rel="noreferrer">the installation on GitHub</a>`;
  const content = isDone
    ? html`<p>Such as <code>/holdfast freeze 2h INC-4711</code>, in the first line of a comment.</p>`
    : isAsked
      ? html`<p>An owner accepts ${missing.join(' and ')} at ${accept}.</p>`
      : html`<p>
          You can leave this out. For it, add two permissions at
          <a href="${settings}/permissions" rel="noreferrer">the App’s settings</a>: <i>Issues: read</i>, so
          that GitHub tells Holdfast of comments, and <i>Pull requests: read and write</i>, so that Holdfast
          can answer them. Subscribe to <i>Issue comment</i> there too. Then an owner accepts that at
          ${accept}.
        </p>`;
  return step(isDone, title, content, isAsked ? 'To do' : 'Optional');
}
