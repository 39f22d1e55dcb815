import { html } from 'hono/html';
import type { AppManifest } from '../github/app-manifest.ts';
import type { Html } from './layout.ts';

/** A GitHub App that is to be made: its manifest, and the page at GitHub that takes it. */
export type NewAppOffer = { manifest: AppManifest; action: string; owner: string };

/** A summary of a new App. The button leads to GitHub. @param beside the button. */
export const newAppForm = ({ manifest, action, owner }: NewAppOffer, beside: Html | '' = ''): Html =>
  html`<p>GitHub asks you to confirm the name. Choose <i>Create GitHub App</i> to return here.</p>
    <dl class="card facts">
      <dt>Name</dt>
      <dd>${manifest.name}</dd>
      <dt>Owner</dt>
      <dd>${owner}</dd>
      ${
        manifest.hook_attributes.active
          ? html`<dt>Webhook URL</dt>
              <dd><code>${manifest.hook_attributes.url}</code></dd>`
          : ''
      }
      <dt>Permissions</dt>
      <dd>
        ${Object.entries(manifest.default_permissions)
          .map(([name, level]) => `${name.replaceAll('_', ' ')}: ${level}`)
          .join(', ')}
      </dd>
    </dl>
    <form method="post" action="${action}">
      <input type="hidden" name="manifest" value="${JSON.stringify(manifest)}" />
      <button type="submit">Continue to ${new URL(action).host}</button>
      ${beside}
    </form>`;

/** The path of GitHub's page that creates an App for an organization, or for the person who is signed in there (null). */
export const newAppPath = (organization: string | null): string =>
  `${organization === null ? '' : `/organizations/${organization}`}/settings/apps/new`;
