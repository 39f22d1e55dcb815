// What people type, and what the documents call it. Add a word here when somebody looked for something and did not
// find it; test/pages/help/search.test.ts has the questions that must be answered.

/** Words that mean much the same to somebody who searches: each finds the others, with less weight. */
export const alike: readonly (readonly string[])[] = [
  ['docker', 'podman', 'container', 'compose', 'kubernetes', 'helm', 'k8s'],
  ['organization', 'organisation', 'org', 'owner', 'account'],
  ['whole', 'entire', 'all', 'every', 'everything'],
  ['monitor', 'monitoring', 'health', 'healthcheck', 'doctor', 'probe'],
  ['metrics', 'prometheus', 'grafana', 'alert', 'alerts', 'alerting', 'scrape'],
  ['backup', 'restore', 'copy', 'snapshot', 'disaster'],
  ['upgrade', 'upgrading', 'update', 'updating', 'version'],
  ['downgrade', 'rollback', 'revert'],
  ['phone', 'mobile', 'iphone', 'android', 'tablet'],
  ['down', 'outage', 'crash', 'unavailable', 'offline', 'failure'],
  ['terraform', 'provider', 'mergify', 'client', 'clients'],
  ['move', 'migrate', 'migration', 'export', 'import'],
  ['queue', 'group'],
  ['install', 'setup', 'deploy', 'installation'],
  ['emergency', 'incident', 'now'],
  ['exempt', 'exemption', 'exemptions', 'bypass', 'override', 'exception', 'through'],
  ['recurring', 'repeat', 'repeats', 'schedule', 'plan', 'plans', 'cron', 'weekly', 'calendar'],
  ['slack', 'email', 'mail', 'notify', 'notification', 'notifications', 'teams'],
  ['token', 'key', 'keys', 'credential', 'credentials', 'password'],
  ['permission', 'permissions', 'role', 'admin', 'rights'],
  ['scale', 'scaling', 'replica', 'replicas', 'several', 'cluster', 'availability'],
  ['cancel', 'delete', 'remove', 'end', 'unfreeze', 'thaw'],
  ['enterprise', 'ghes'],
  ['configuration', 'config', 'settings', 'setting', 'environment', 'variable', 'variables', 'option'],
  ['ci', 'pipeline', 'pipelines', 'actions', 'jenkins', 'gitlab'],
  ['error', 'errors', 'problem', 'troubleshooting', 'message'],
  ['postgres', 'postgresql', 'database', 'pglite'],
  ['secret', 'secrets', 'rotate', 'rotation', 'rotating'],
];

/** Written as two words or as one. */
export const asOneWord: readonly (readonly [RegExp, string])[] = [
  [/\bback(?:ing|ed)?[ -]ups?\b/g, 'backup'],
  [/\bset(?:ting)?[ -]up\b/g, 'setup'],
  [/\broll(?:ing)?[ -]back\b/g, 'rollback'],
  [/\bhealth[ -]checks?\b/g, 'healthcheck'],
  [/\btime[ -]zones?\b/g, 'timezone'],
];

/** Words that say nothing about what is looked for. */
export const tooCommon: ReadonlySet<string> = new Set(
  'a an and are as at be by can do does for from how i if in is it me my of on or that the this to use we what when where which who why will with you your'.split(
    ' ',
  ),
);
