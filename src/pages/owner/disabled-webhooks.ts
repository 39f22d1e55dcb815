import { html } from 'hono/html';
import { ownerSettingsPath } from '../../page-paths.ts';
import { disabledWebhooks } from '../../notices/manage-webhooks.ts';
import type { Html } from '../html.ts';
import type { PageDeps } from '../reader.ts';
import type { SeenOwner } from './overview.ts';

/** Tells the admins of some owners whose webhooks Holdfast disabled. One statement for any number of owners. */
export async function disabledNotices({ db }: Pick<PageDeps, 'db'>, owners: SeenOwner[]): Promise<Html[]> {
  const administered = owners.filter(({ isAdmin }) => isAdmin).map(({ account }) => account);
  const disabled = await disabledWebhooks(
    db,
    administered.map(({ id }) => id),
  );
  return administered
    .filter(({ id }) => disabled.some(({ accountId }) => accountId === id))
    .map(
      ({ login }) =>
        html`<p class="notice wrong">
          Holdfast disabled an outgoing webhook of <bdi>${login}</bdi>, so it gets no messages.
          <a href="${ownerSettingsPath(login, 'webhooks')}">Correct its address, then enable it</a>
        </p>`,
    );
}
