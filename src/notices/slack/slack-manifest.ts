// The Slack app as Slack's page for new apps takes it in a link.

const bot = ['commands', 'chat:write', 'chat:write.public', 'im:write', 'users:read'];

/**
 * The page at Slack that makes the app, filled in.
 * @param publicUrl where Slack reaches us; null: the app uses Socket Mode.
 */
export function newAppUrl(publicUrl: string | null): string {
  const manifest = {
    display_information: {
      name: 'Holdfast',
      description: 'Merge freezes for GitHub',
      background_color: '#1f2328',
    },
    features: {
      bot_user: { display_name: 'Holdfast', always_online: true },
      slash_commands: [
        {
          command: '/holdfast',
          description: 'Freeze, extend and end freezes, and let pull requests through',
          usage_hint: 'freeze acme/web 2h INC-4711 | status | help',
          should_escape: false,
          ...(publicUrl !== null && { url: `${publicUrl}/slack/commands` }),
        },
      ],
    },
    oauth_config: { scopes: { bot } },
    settings: {
      interactivity: {
        is_enabled: true,
        ...(publicUrl !== null && { request_url: `${publicUrl}/slack/interactions` }),
      },
      org_deploy_enabled: false,
      socket_mode_enabled: publicUrl === null,
      token_rotation_enabled: false,
    },
  };
  const query = new URLSearchParams({ new_app: '1', manifest_json: JSON.stringify(manifest) });
  return `https://api.slack.com/apps?${query}`;
}
