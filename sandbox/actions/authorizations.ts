import type { Webhooks } from '../webhooks/webhooks.ts';
import type { World } from '../state/world.ts';

/** What people allow the App to do in their name. */
export function authorizations(world: World, webhooks: Webhooks) {
  return {
    /** A person revokes it: the App must ask again, its tokens for them end, and it gets an event. */
    revokeAuthorization(login: string) {
      const user = world.account(login);
      world.signIns.authorized.delete(user.id);
      for (const { token, ownApp, user: holder } of [...world.userTokens.values()])
        if (holder === user && ownApp) world.userTokens.delete(token);
      webhooks.emit({ event: 'github_app_authorization', action: 'revoked', sender: user });
    },
  };
}
