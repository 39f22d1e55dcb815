import { jobs } from '../database/queue/jobs.ts';
import type { Wake } from './accept-event.ts';
import { commandLine } from '../chat/commands/command.ts';
import type { Payloads } from './handled-events.ts';

// Where people write commands. Only the event that brings a text has it as its author wrote it: what others edit later is
// no command. A comment on a line of code is none either, because it is part of a review of that line.

/** A comment on a pull request. What bots write is no command, nor what an App writes for a person. */
export function commandOfComment(payload: Payloads['issue_comment']): Wake[] {
  const { issue, comment } = payload;
  if (!issue.pull_request || comment.performed_via_github_app) return [];
  const { id, user, body, created_at: at } = comment;
  return command(payload, issue.number, { id: String(id), user, body, at });
}

/** The text of a review, as it is submitted. GitHub does not say whether an App wrote it for a person. */
export function commandOfReview(payload: Payloads['pull_request_review']): Wake[] {
  const { id, user, body, submitted_at: at } = payload.review;
  if (payload.action !== 'submitted' || !body || !at) return [];
  return command(payload, payload.pull_request.number, { id: String(-id), user, body, at });
}

/** What somebody wrote, with its id as `ToldOfComment` has it. */
type Written = { id: string; user: Payloads['issue_comment']['comment']['user']; body: string; at: string };

function command(
  { repository, installation }: Payloads['label'],
  number: number,
  { id: commentId, user, body, at }: Written,
): Wake[] {
  const text = commandLine(body);
  if (text === null || user?.type !== 'User') return [];
  const person = { id: user.id, login: user.login };
  const installationId = installation ? String(installation.id) : null;
  const told = { commentId, number, person, at, text, installationId };
  return [{ to: 'jobs', jobs: [jobs.answerComment(BigInt(repository.id), told)] }];
}
