// Functions with more paths than ESLint's rule `complexity` allows elsewhere: how many each may have, and why. The numbers
// only become smaller. Where a reason says "not yet", the function needs another shape.

/** How many paths a function of src/ may have. */
export const mostPaths = 15;

const switchOfKinds = 'One branch for each kind, and each is a line or two: a table would hide their types.';
const grammar = 'It reads a small language: one branch for each thing that can stand there.';
const manyOptions = 'One branch for each option or field that can be absent.';
const page = 'Not yet: the page reads, decides and renders in one.';
const steps = 'Steps in an order that matters, each of which can end it.';

/** The most complex function of a file. */
export const complexFunctions: Record<string, [paths: number, why: string]> = {
  'src/api/serve-endpoint.ts': [18, steps],
  'src/auth/authorize.ts': [17, steps],
  'src/cli/commands/audit.ts': [17, manyOptions],
  'src/cli/commands/completion.ts': [16, switchOfKinds],
  'src/cli/commands/plans.ts': [18, manyOptions],
  'src/cli/scopes/diff-scopes.ts': [16, steps],
  'src/cli/test-conditions.ts': [20, switchOfKinds],
  'src/cli/times.ts': [16, manyOptions],
  'src/deployments/look-at-runs.ts': [28, 'Not yet: the order of its loops matters, and nothing says so.'],
  'src/words/describe-event.ts': [16, switchOfKinds],
  'src/explanations/enforcement/read-environment.ts': [17, manyOptions],
  'src/github/api-address.ts': [20, 'Every way in which something else than GitHub can answer.'],
  'src/notices/notice.ts': [16, manyOptions],
  'src/pages/freeze-now/plan-preview.ts': [16, page],
  'src/pages/freeze/show-freeze.ts': [22, page],
  'src/pages/installed.ts': [30, page],
  'src/pages/layout.ts': [19, manyOptions],
  'src/pages/owner/show-exemptions.ts': [24, page],
  'src/pages/plan/plan-form.ts': [20, manyOptions],
  'src/pages/progress.ts': [16, page],
  'src/pages/status/exemption-forms.ts': [18, page],
  'src/pages/status/status-pages.ts': [31, page],
  'src/plans/repetition.ts': [16, switchOfKinds],
  'src/plans/rule.ts': [16, manyOptions],
  'src/plans/source/calendar-objects.ts': [22, grammar],
  'src/plans/source/event-rule.ts': [22, grammar],
  'src/plans/source/read-source.ts': [18, 'Every way in which the server of a calendar can fail.'],
  'src/statuses/correct.ts': [20, 'Not yet: it counts, corrects, and gives up in one transaction.'],
  'src/statuses/instant-hold/change-hold.ts': [
    22,
    'Not yet: it looks, repairs and records, and returns early in five ways.',
  ],
  'src/statuses/lease.ts': [19, 'Not yet: each state of a writer goes on in its own way.'],
  'src/statuses/observe.ts': [17, manyOptions],
  'src/statuses/save.ts': [16, manyOptions],
  'src/time/moment.ts': [18, grammar],
  'src/webhooks/accept-event.ts': [23, switchOfKinds],
  'src/chat/commands/command.ts': [19, grammar],
  'src/chat/comments/answer-comment.ts': [18, 'Not yet: who, whether, which and how in one.'],
  'src/webhooks/receive-webhook.ts': [18, steps],
  'src/chat/slack/answer-slack.ts': [16, 'Not yet: who, whether, which and how in one.'],
};
