const queue = 'it belongs to the merge queue of another service, and Holdfast has no merge queue';
const caller = 'it is about the person who gives a command, and a freeze has no such person';
const review = 'GitHub does not answer it. Use `github-review-decision` or `#approved-reviews-by`';
const former = 'it is no longer part of the language. Use `schedule` or `current-datetime`';

/** Names that readers may know from elsewhere, and why a freeze cannot use each. They are never silently false. */
export const refusedNames: Readonly<Record<string, string>> = {
  check: 'it names no result. Use `check-success`, `check-failure`, `check-pending` or another of them',
  'co-authors': 'a message can show it, but a condition cannot compare it. Use `commits[*].author`',
  'current-day': former,
  'current-day-of-week': former,
  'current-month': former,
  'current-time': former,
  'current-timestamp': former,
  'current-year': former,
  'github-code-owner-review-satisfied': review,
  'github-require-last-push-approval': review,
  'github-require-review-from-specific-teams': review,
  'github-review-approved': review,
  'queue-dequeue-reason': queue,
  'queue-merge-started-at': queue,
  'queue-name': queue,
  'queue-position': queue,
  'queued-at': queue,
  sender: caller,
  'sender-permission': caller,
  updates:
    'Holdfast reads only the last push. Use `last-pushed-by`, `updated-at` or `commits[-1].date_committer`',
};

/** Former names, with the present name of each. */
export const aliases: Readonly<Record<string, string>> = {
  'status-failure': 'check-failure',
  'status-neutral': 'check-neutral',
  'status-success': 'check-success',
};
