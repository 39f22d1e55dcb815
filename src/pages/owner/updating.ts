import { html } from 'hono/html';
import type { RepositoryState } from '../../explanations/repository-states.ts';
import type { Html } from '../html.ts';

/** What stands beside counts of blocked pull requests that are about to change: how many GitHub still blocks, or just that. */
export function updating(repositories: RepositoryState[]): Html | '' {
  const releasing = repositories.reduce((sum, each) => sum + each.releasing, 0);
  if (releasing > 0) return html`<span class="updating">releasing ${releasing}</span>`;
  const isUpdating = repositories.some((each) => each.isUpdating && each.ongoing > 0);
  return isUpdating ? html`<span class="updating">updating</span>` : '';
}
