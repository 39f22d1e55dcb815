// Files of src/ that import only each other: pure code, and what is installed with the command line.

/** Takes values and gives values: no database, no GitHub, no HTTP, and nothing that has them. */
export const pure = [
  'src/conditions/**',
  'src/cut-text.ts',
  'src/explanations/enforcement/finding.ts',
  'src/explanations/enforcement/judge-*.ts',
  'src/cli/scopes/scopes-file.ts',
  'src/chat/commands/{command,freeze-words}.ts',
  'src/events/{actor,audit-event,notice-type}.ts',
  'src/words/**',
  'src/exemptions/exemption.ts',
  'src/freezes/{freeze,freeze-warnings,freeze-window,judge-freeze,meant-values}.ts',
  'src/plans/{changed-occurrences,frozen-state,occurrences,plan,repetition,rule}.ts',
  'src/plans/source/{calendar-objects,content-lines,event-rule,series,source-events,source-window,wall-clock,zones}.ts',
  'src/time/**',
  'src/statuses/{judge,plan-write,status}.ts',
  'src/github/app-manifest.ts',
  'src/pages/help/{address,render-document,search-documents}.ts',
  'src/github/facts/**',
  'src/github/{markdown,merge-group-ref}.ts',
  'src/deployments/deployment.ts',
  'src/page-paths.ts',
  'src/github/pull-requests/pull-request.ts',
  'src/auth/oidc/oidc-rule.ts',
  'src/auth/sign-in/attempt.ts',
  'src/pages/calendar/calendar-window.ts',
  'src/database/queue/jobs.ts',
  'src/notices/{message,notice-words,render,tell}.ts',
  'src/webhooks/commands-in-events.ts',
  'src/webhooks/handled-events.ts',
  'src/webhooks/owner-events.ts',
  'src/webhooks/rules-and-deployments.ts',
];

/** What the package of the command line holds beside src/cli. Everything else stays with the service. */
export const shipped = [
  'src/address-here.ts',
  'src/cli/**',
  'src/conditions/**',
  'src/cut-text.ts',
  'src/dot-env.ts',
  'src/events/{actor,audit-event}.ts',
  'src/words/**',
  // Only types.
  'src/generated/v1.d.ts',
  'src/github/facts/without-comments.ts',
  'src/plans/plan-name.ts',
  'src/time/**',
];
