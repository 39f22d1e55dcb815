import { createHash } from 'node:crypto';
import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import type { SlackApp } from '../../notices/slack/slack-apps.ts';
import { isResponseUrl } from '../../notices/slack/slack-client.ts';
import { jobs } from '../../queue/jobs.ts';
import { readSlackCommand } from './slack-command.ts';
import type { Heard } from './slack-request.ts';
import { helpText } from './slack-text.ts';

/** The most requests of one person of Slack in ten minutes. */
const mostRequests = 60;
const limitedFor = 10 * 60_000;

const insert = `
  INSERT INTO slack_requests (id, app, team_id, user_id, channel_id, response_url, asked, received_at)
  VALUES ($3, $4, $5, $6, $7, $8, $9::jsonb, $10::timestamptz) ON CONFLICT DO NOTHING RETURNING 1`;

/**
 * Accepts a verified request, over HTTP and by Socket Mode: saves it with the job that answers it, once.
 * @returns what only the person sees at once; null: the job answers.
 */
export async function acceptRequest(
  deps: Deps,
  app: SlackApp,
  { asked, name, responseUrl, ...heard }: Heard,
): Promise<{ response_type: 'ephemeral'; text: string } | null> {
  if (!asked) return null;
  const { teamId, userId, channelId, teamName, userName } = heard;
  if (asked.kind === 'command' && (readSlackCommand(asked.text)?.verb ?? 'help') === 'help')
    return { response_type: 'ephemeral', text: helpText };
  const now = nowOf(deps.clock);
  const receivedAt = { gt: new Date(now.getTime() - limitedFor) };
  const earlier = await deps.db.slackRequest.count({
    where: { app: app.key, teamId, userId, receivedAt },
  });
  if (earlier >= mostRequests)
    return {
      response_type: 'ephemeral',
      text: '*Nothing was changed.* Too many requests. Wait ten minutes.',
    };
  const id = createHash('sha256').update(`${app.key} ${teamId} ${userId} ${name}`).digest('hex');
  const answerTo =
    responseUrl !== null && isResponseUrl(deps.config.slack.apiUrl, responseUrl) ? responseUrl : null;
  const values = [id, app.key, teamId, userId, channelId, answerTo];
  const content = JSON.stringify({ ...asked, teamName, userName });
  await deps.queue.sendAfter(
    { name: 'save-slack-request', text: insert, values: [...values, content, now] },
    [jobs.answerSlack(id)],
  );
  return null;
}
