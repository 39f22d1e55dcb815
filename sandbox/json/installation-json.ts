import { instantJson } from './instant-json.ts';
import { accountJson } from './account-json.ts';
import type { Installation } from '../state/model.ts';
import type { World } from '../state/world.ts';

/** An installation in REST and installation webhooks. */
export function installationJson(world: World, installation: Installation) {
  const { account, app } = installation;
  return {
    id: installation.id,
    account: accountJson(world, account),
    repository_selection: installation.selection,
    access_tokens_url: `${world.url}/app/installations/${installation.id}/access_tokens`,
    repositories_url: `${world.url}/installation/repositories`,
    html_url: `https://github.com/settings/installations/${installation.id}`,
    app_id: app.id,
    client_id: app.clientId,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: installation.permissions,
    events: app.events,
    created_at: instantJson(installation.createdAt),
    updated_at: instantJson(installation.createdAt),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: instantJson(installation.suspendedAt),
  };
}
