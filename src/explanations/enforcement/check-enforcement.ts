import pLimit from 'p-limit';
import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { askAbout, findLeaking } from '../../statuses/merge-states.ts';
import type { HeldPullRequest } from '../../statuses/held-pull-requests.ts';
import { holdsMerges } from '../../freezes/freeze.ts';
import { listFreezes } from '../../freezes/list-freezes.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { ask } from './asking.ts';
import { type Finding, isEnforced } from './finding.ts';
import { judgeApp } from './judge-app.ts';
import { judgeBranch, judgeRequired } from './judge-branch.ts';
import { judgeForgotten } from './judge-forgotten.ts';
import { judgeHeld } from './judge-held.ts';
import { judgeClock, judgeRateLimit, judgeWebhooks, whySpare } from './judge-service.ts';
import { readBranch, readDormant } from './read-branch.ts';
import { allBranches, readBranches, type TouchedBranches } from './read-branches.ts';
import { rulesetReader } from './read-ruleset.ts';
import { readApp, readLimits, readWebhooks } from './read-service.ts';
import type { Place } from './remedies.ts';

/** What GitHub requires and allows, and the state of the service. */
export type Settings = { checkedAt: Date; findings: Finding[] };

export type EnforcementReport = Settings & {
  /** Whether GitHub refuses to merge what freezes hold. */
  enforced: boolean | 'unknown';
  /** The pull requests that freezes hold or should hold. */
  held: HeldPullRequest[];
};

/** Milliseconds for all questions together. Unanswered questions are unknown. */
const patience = 20_000;
/** We check at most this many branches, because each costs requests. The bases of pull requests come last. */
const mostBranches = 20;
/** How many branches we read in parallel: GitHub limits concurrent requests. */
const atOnce = 4;

/** Combines the settings with what is held. */
export function reportOf(
  deps: Pick<Deps, 'config'>,
  repository: FoundRepository,
  settings: Settings,
  held: HeldPullRequest[],
): EnforcementReport {
  const findings = [...judgeHeld(held, placeFor(deps, repository)), ...settings.findings];
  return { enforced: isEnforced(findings), checkedAt: settings.checkedAt, findings, held };
}

/**
 * Checks whether GitHub enforces the freezes of a repository: what it requires, who may bypass that, what the App may
 * do, whether webhooks arrive and whether the clock is right. Asks again about pull requests that GitHub would merge.
 * Changes nothing on GitHub. Does not throw if GitHub is slow, down or refuses: the answer is unknown then.
 */
export async function checkSettings(
  deps: Pick<Deps, 'db' | 'sql' | 'github' | 'clock' | 'config' | 'log'>,
  repository: FoundRepository,
): Promise<Settings> {
  const unsparing = { deps, repository, signal: AbortSignal.timeout(patience) };
  const place = placeFor(deps, repository);
  const now = nowOf(deps.clock);
  const freezes = await listFreezes(deps.sql, repository, now);
  // This question is free. It comes first, so that frequent checks do not use up the requests that statuses need.
  const limits = await readLimits(unsparing);
  const asking = { ...unsparing, spare: whySpare(limits.budgets) };
  const [app, touched] = await Promise.all([
    readApp(asking),
    readBranches(asking, freezes.filter(holdsMerges)),
  ]);
  const branches = allBranches(touched);
  const readRuleset = rulesetReader(asking);
  const leaking = await findLeaking(deps.db, repository.id);
  const [webhooks, facts] = await Promise.all([
    readWebhooks(asking, app.settings),
    pLimit(atOnce).map(branches.slice(0, mostBranches), (branch) =>
      readBranch(asking, branch, app.grants, readRuleset),
    ),
    leaking.length > 0 &&
      ask(asking, 'installation', (client) => askAbout(deps, client, repository, leaking)),
  ]);
  // Only needed if a branch requires nothing: a dormant ruleset may explain why.
  const isMissing = facts.some((each) => judgeRequired(each, place).state === 'failed');
  const dormant = isMissing ? await readDormant(asking, readRuleset) : [];
  const findings = [
    ...judgeHere(repository, place, app.installation),
    ...judgeForgotten(freezes, now, place),
    ...facts.flatMap((each) => judgeBranch(each, place, app.grants, dormant)),
    ...judgeTouched(touched, branches.length, place),
    ...judgeApp(app),
    judgeWebhooks(webhooks),
    judgeClock(limits.ahead),
    judgeRateLimit(limits.budgets),
  ];
  return { checkedAt: nowOf(deps.clock), findings };
}

/** The values that remedies contain. */
export const placeFor = ({ config }: Pick<Deps, 'config'>, repository: FoundRepository): Place => ({
  web: webUrlOf(config.githubApiUrl),
  api: config.githubApiUrl,
  repository: fullName(repository),
  context: config.statusContext,
  appId: config.app.id,
});

/** Findings from our own data. */
function judgeHere(repository: FoundRepository, place: Place, installationUrl: string): Finding[] {
  const { account, name, products, installation } = repository;
  const suspended: Finding = {
    check: 'installation',
    state: 'failed',
    message: `Holdfast's installation on ${account.login} is suspended, so it can neither read nor hold anything.`,
    remedy: `Unsuspend it at ${installationUrl}.`,
  };
  const archived: Finding = {
    check: 'installation',
    state: 'warning',
    message: `${place.repository} is archived, so nothing merges there and you cannot create freezes.`,
    remedy: `Unarchive it at ${place.web}/${place.repository}/settings.`,
  };
  const isOn = freezesAreOn(products);
  const product: Finding = {
    check: 'product',
    state: isOn ? 'ok' : 'failed',
    message: isOn
      ? `Freezes are switched on for ${fullName(repository)}.`
      : `Neither merge_protections nor merge_queue is enabled on ${fullName(repository)}, so nothing is held.`,
    remedy: isOn
      ? null
      : `Enable one with PUT /v1/products/${account.login}/${name} and {"products": ["merge_protections"]}.`,
  };
  return [
    ...(installation.suspendedAt ? [suspended] : []),
    ...(repository.archived ? [archived] : []),
    product,
  ];
}

/** Findings about branches that we could not list, or that were too many. */
function judgeTouched({ defaultBranch, bases }: TouchedBranches, count: number, place: Place): Finding[] {
  const findings: Finding[] = [];
  const settings = `${place.web}/${place.repository}/settings`;
  if (!defaultBranch.known) {
    findings.push({
      check: 'required_check',
      state: 'unknown',
      message: `Holdfast cannot tell whether the default branch requires ${place.context}: ${defaultBranch.reason}.`,
      remedy: `Check ${settings}/branches and ${place.web}/${place.repository}/rules.`,
    });
  }
  if (!bases.known) {
    findings.push({
      check: 'branches',
      state: 'unknown',
      message: `Holdfast cannot tell which branches have open pull requests: ${bases.reason}.`,
      remedy: null,
    });
  }
  if (count > mostBranches) {
    findings.push({
      check: 'branches',
      state: 'warning',
      message: `Pull requests are open for ${count} branches. Holdfast checked ${mostBranches} of them.`,
      remedy: `Require ${place.context} with a branch name pattern at ${settings}/rules.`,
    });
  }
  return findings;
}
