import pLimit from 'p-limit';
import { nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { holdsMerges } from '../../freezes/freeze.ts';
import { listFreezes } from '../../freezes/list-freezes.ts';
import type { Fact } from '../../github/pull-requests/pull-request.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { askInTime } from './ask.ts';
import { allBranches, readBranches } from './read-branches.ts';
import type { Finding } from './finding.ts';
import { disabledWebhooks } from '../../notices/manage-webhooks.ts';
import {
  judgeApp,
  judgeDeploying,
  judgeClock,
  judgeRateLimit,
  judgeWebhooks,
  whySpare,
} from './judge-service.ts';
import { type Environments, judgeEnvironments, judgeWorkflows } from './judge-environments.ts';
import { readEnvironments, readWorkflows } from './read-environment.ts';
import { isRequired, judgeBranch, judgeRequired, type RemedyTarget, whyNever } from './judge-branch.ts';
import {
  judgeForgotten,
  judgeInstallation,
  judgeOutgoing,
  judgeRoles,
  judgeTouched,
} from './judge-repository.ts';
import { readBranch, readDormant, rulesetReader } from './read-branch.ts';
import { readApp, readClock, readLimits, readRoles, readWebhooks } from './read-service.ts';
import { askAbout, findLeaking } from '../../statuses/ask-merge-states.ts';

/**
 * What GitHub requires and allows, and the state of the service.
 * @property absent branches that were looked at and do not exist.
 * @property required whether GitHub requires our check on the branches of which that is known.
 * @property environments null if nobody wants freezes to hold deployments.
 */
export type EnforcementSettings = {
  checkedAt: Date;
  findings: Finding[];
  absent: string[];
  required: ReadonlyMap<string, boolean>;
  environments: Fact<Environments> | null;
};

/** Milliseconds for all questions together. Unanswered questions are unknown. */
const settingsPatience = 20_000;
/** We check at most this many branches, because each costs requests. The bases of pull requests come last. */
const mostBranches = 20;
/** How many branches we read in parallel: GitHub limits concurrent requests. */
const branchesAtOnce = 4;

/**
 * Checks whether GitHub enforces the freezes of a repository: what it requires, who may bypass that, what the App may
 * do, whether webhooks arrive and whether the clock is right. Asks again about pull requests that GitHub would merge.
 * Changes nothing on GitHub. Does not throw if GitHub is slow, down or refuses: the answer is unknown then.
 */
export async function checkSettings(
  deps: Pick<Deps, 'db' | 'sql' | 'github' | 'clock' | 'witnesses' | 'config' | 'log'>,
  repository: FoundRepository,
): Promise<EnforcementSettings> {
  const unsparing = { deps, repository, signal: AbortSignal.timeout(settingsPatience) };
  const target = remedyTargetOf(deps, repository);
  const now = nowOf(deps.clock);
  const freezes = await listFreezes(deps.sql, repository, now);
  // This question is free. It comes first, so that frequent checks do not use up the requests that statuses need.
  const limits = await readLimits(unsparing);
  const asking = { ...unsparing, spare: whySpare(limits) };
  const [app, roles, touched] = await Promise.all([
    readApp(asking),
    readRoles(asking),
    readBranches(asking, freezes.filter(holdsMerges)),
  ]);
  const ofInstallation = judgeInstallation(
    repository,
    freezesAreOn(repository.products),
    target,
    app.installation,
  );
  // Nothing merges there, so nothing else about it matters.
  if (repository.archived)
    return {
      ...{ checkedAt: nowOf(deps.clock), findings: ofInstallation, absent: [] },
      ...{ required: new Map(), environments: null },
    };
  const branches = allBranches(touched);
  const readRuleset = rulesetReader(asking);
  const leaking = await findLeaking(deps.db, repository.id);
  const [webhooks, facts] = await Promise.all([
    readWebhooks(asking, app.settings),
    pLimit(branchesAtOnce).map(branches.slice(0, mostBranches), (branch) =>
      readBranch(asking, branch, app.grants, readRuleset),
    ),
    leaking.length > 0 &&
      askInTime(asking, 'installation', (client) => askAbout(deps, client, repository, leaking)),
  ]);
  // Only needed if a branch requires nothing, and could: a dormant ruleset may explain why.
  const isMissing = facts.some(
    (each) => whyNever(each, target) === null && judgeRequired(each, target).state === 'failed',
  );
  const dormant = isMissing ? await readDormant(asking, readRuleset) : [];
  const deploying = judgeDeploying(app, freezes);
  const { grants } = app;
  const [environments, workflows] =
    deploying.length > 0 && grants.known
      ? await Promise.all([readEnvironments(asking, grants.value), readWorkflows(asking, grants.value)])
      : [null, null];
  const findings = [
    ...ofInstallation,
    ...judgeForgotten(freezes, now, target),
    ...facts.flatMap((each) => judgeBranch(each, target, app.grants, dormant)),
    ...judgeTouched(touched, branches.length, mostBranches, target),
    ...judgeApp(app),
    ...deploying,
    ...judgeEnvironments(environments, freezes, target, repository.private),
    ...judgeWorkflows(workflows, environments, target.repository),
    ...judgeRoles(roles, target),
    judgeWebhooks(webhooks),
    ...judgeOutgoing(await disabledWebhooks(deps.db, [repository.accountId]), repository.account.login),
    ...judgeClock(readClock(deps, limits)),
    judgeRateLimit(limits),
  ];
  const absent = facts.flatMap(({ name, exists }) => (exists.known && !exists.value ? [name] : []));
  const required = new Map(
    facts.flatMap((each): [string, boolean][] => {
      const word = isRequired(each, target);
      return word === 'unknown' ? [] : [[each.name, word]];
    }),
  );
  return { checkedAt: nowOf(deps.clock), findings, absent, required, environments };
}

/** The repository as remedies name it. */
export const remedyTargetOf = (
  { config }: Pick<Deps, 'config'>,
  repository: FoundRepository,
): RemedyTarget => ({
  web: webUrlOf(config.githubApiUrl),
  api: config.githubApiUrl,
  repository: fullName(repository),
  context: config.statusContext,
  appId: config.app.id,
});
