/** @property matches sentences of faults, such as `answer of GET /app, 200: node_id is not there`. */
type Exception = { matches: RegExp; reason: string };

/**
 * What GitHub's descriptions have against the recordings and what stays, each with its reason. A row that nothing needs any
 * more fails.
 */
export const exceptions: Exception[] = [
  // Requests.
  {
    matches: /^request \S+ \/login\/oauth\/\w+ .*: the route is not described$/,
    reason:
      'People sign in at the web site, which the descriptions are not about: GitHub Docs, authorizing OAuth apps.',
  },
  {
    matches:
      /^(?:request|answer of) GET \/_services\/token\/\.well-known\/.*: (?:the route is not described|the answer has no ETag)$/,
    reason: 'The issuer of tokens of Actions is a service of its own: GitHub Docs, OpenID Connect.',
  },
  {
    matches:
      /^request \S+ \/repos\/\{owner\}\/\{repo\}\/stacks(?:\/\S+)? at ghes-.*: the route is not described$/,
    reason: 'Enterprise Server has no stacks. The product takes the 404 for that.',
  },
  {
    matches: /^request \S+ .*\/merge-async(?:\/\S+)? at ghes-.*: the route is not described$/,
    reason: 'Only people of the stories merge in the background, at github.com.',
  },
  {
    matches: /^request .*: the body is sent as text\/plain;charset=UTF-8$/,
    reason: 'People of the stories send it with fetch. GitHub reads JSON, whatever the type says.',
  },
  // What GitHub answers otherwise than it describes.
  {
    matches: /^answer of GET \/app\/installations, 200: \[\]\.account is nothing that is described$/,
    reason:
      'The list describes an account that is a person and an enterprise at once. One installation is described well.',
  },
  {
    matches:
      /^answer of GET \/app\/installations, 200: \[\]\.(?:client_id|permissions\.\w+) is not described$/,
    reason: 'The list has an older description than one installation.',
  },
  {
    matches: /^answer of GET \/rate_limit, 200: (?:rate|resources\.\w+)\.resource is not described$/,
    reason: 'GitHub answers so: recorded in public in 2021 and 2024.',
  },
  {
    matches:
      /^answer of (?:GET|PUT) \/repos\/.*\/environments(?:\/\S+)?, 200: (?:environments\.\[\]\.)?can_admins_bypass is not described$/,
    reason: 'GitHub answers so, and the settings of environments have it.',
  },
  {
    matches:
      /^answer of GET \/repos\/.*\/deployments\/.*\/statuses, 200: \[\]\.state must be equal to one of/,
    reason:
      'A deployment that a rule holds is `waiting`. GitHub describes that in the webhook deployment_status only.',
  },
  {
    matches: /^webhook pull_request\.review_request(?:ed|_removed): the body is nothing that is described$/,
    reason: 'GitHub sends more of the pull request than it describes: @octokit/webhooks-examples.',
  },
  {
    matches: /^webhook pull_request\.(?:de)?milestoned: installation is not described$/,
    reason: 'GitHub sends it to Apps with each event, as it describes of the others.',
  },
  // Keys that nothing reads: the sandbox has parts of these things.
  {
    matches: /_links\.(?:comments|commits|issue|review_comments?|pull_request) is not there$/,
    reason: 'Addresses. The product makes its own.',
  },
  {
    matches: /^answer of GET \/users?(?:\/\S+)?, 200: the body is nothing that is described$/,
    reason: 'Of people, the product reads what every list of people has.',
  },
  {
    matches: /^answer of GET \/rate_limit, 200: resources\.search is not there$/,
    reason: 'The product does not search.',
  },
  {
    matches: /^(?:answer of \S+ \/repos\/.*\/branches\/.*|webhook status): commit\.\w+ is not there$/,
    reason: 'Of a commit, the product reads its SHA there.',
  },
  {
    matches: /^webhook branch_protection_rule\.\w+: rule\.\w+ is not there$/,
    reason: 'The product hears that a rule changed, and asks for the rules.',
  },
  {
    matches: /^webhook push: (?:base_ref|commits|compare|head_commit|pusher) is not there$/,
    reason: 'Of a push, the product reads the branch and the SHAs.',
  },
  {
    matches: /^webhook check_run\.\w+: check_run\.[\w.]+ is not there$/,
    reason: 'Of a check run, the product reads the head SHA and asks GitHub for the rest.',
  },
  {
    matches: /^answer of GET \/repos\/.*\/actions\/runs.*: (?:workflow_runs\.\[\]\.)?\w+ is not there$/,
    reason: 'Of a workflow run, the product reads its state, number, event, branch and actor.',
  },
  {
    matches:
      /^webhook deployment_(?:status|protection_rule)\.\w+: (?:deployment|deployment_status|workflow_run)\.\w+ is not there$/,
    reason:
      'Of these events, the product reads which run and environment they are about, and asks GitHub for the rest.',
  },
  {
    matches: /^answer of GET \/repos\/.*\/deployments, 200: \[\]\.\w+ is not there$/,
    reason: 'Of a deployment, the product reads its id, SHA and environment.',
  },
  {
    matches: /^answer of GET \/repos\/.*\/deployments\/.*\/statuses, 200: \[\]\.\w+ is not there$/,
    reason: 'Of the status of a deployment, the product reads its state and address.',
  },
  {
    matches: /\bmilestone\.\w+ is not there$/,
    reason: 'Of a milestone, the product reads its title.',
  },
  {
    matches: /\b(?:performed_via_github_app\.\w+|reactions) is not there$/,
    reason: 'Of a comment, the product reads its author and text, and through which App it was written.',
  },
  {
    matches: /^webhook pull_request_review_comment\.\w+: comment\.\w+ is not there$/,
    reason: 'Of a comment on a line, the product reads that there is one.',
  },
  {
    matches: /^webhook pull_request_review_thread\.\w+: thread\.comments\.\[\]\.\w+ is not there$/,
    reason: 'Of a thread, the product reads that something happened to it.',
  },
  {
    matches: /^answer of GET \/orgs\/.*\/teams\/.*, 200: (?:organization\.)?\w+ is not there$/,
    reason: 'Of a team, the product reads its id, slug and parent.',
  },
  {
    matches: /^answer of GET \/app\/hook\/deliveries\/.*, 200: (?:request\.headers|response) is not there$/,
    reason: 'Of a delivery, the product reads the payload that was sent.',
  },
  {
    matches: /^answer of GET \/repos\/.*\/compare\/.*, 200: (?:merge_)?base_commit is not there$/,
    reason: 'Of a comparison, the product reads how many commits are behind.',
  },
  {
    matches: /^webhook organization\.member_removed: membership\.\w+ is not there$/,
    reason: 'Of a membership that ended, the product reads whose it was.',
  },
  {
    matches: /^answer of POST \/applications\/\{client_id\}\/token, 200: \w+ is not there$/,
    reason: 'Of a token that is checked, the product reads whose it is.',
  },
];
