import { nowOf, within } from '../../time/clock.ts';
import { answersPerService } from '../../github/cache.ts';
import type { Deps } from '../../deps.ts';
import type { Freeze } from '../../freezes/freeze.ts';
import type { Unenforced } from '../../freezes/freeze-warnings.ts';
import { missingPermissions } from '../../github/app-manifest.ts';
import { mayAskNow } from '../../github/ask-github.ts';
import { known } from '../../github/pull-requests/pull-request.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { type HeldPullRequest, heldPullRequests } from '../../statuses/held-pull-requests.ts';
import type { Asking } from './ask.ts';
import { checkSettings, type EnforcementSettings, remedyTargetOf } from './check-enforcement.ts';
import { isEnforced } from './finding.ts';
import { noteEnvironments } from './held-environments.ts';
import { judgeWork, vital } from './judge-service.ts';
import { readWork } from './read-service.ts';
import { hasUnjudged } from '../../freezes/list-freezes.ts';
import {
  type BranchFacts,
  type LookedAtBranch,
  judgeRequired,
  type RemedyTarget,
  whyNever,
} from './judge-branch.ts';
import { type Instant, readInstant } from '../../statuses/instant-hold/hold-store.ts';
import { judgeHeld, judgeInstant } from './judge-repository.ts';
import { readRequirements } from './read-branch.ts';
import { allBranches, readBranches, readDefaultBranch } from './read-branches.ts';
import { waitsForUs } from './read-environment.ts';
import { excludedBranches, onlyBranches, type FreezeQuery } from '../../freezes/judge-freeze.ts';
import { about, secondsOf, paceOf } from '../../statuses/time-until-held.ts';
import { readWaiting } from '../../statuses/take-writes.ts';

// What GitHub enforces, for requests that wait. Each check costs GitHub requests, and people may ask often: so all share
// an answer for a while.

type Needed = Pick<Deps, 'db' | 'github' | 'clock' | 'config' | 'log'>;

/** Milliseconds to share an answer. */
export const enforcedFreshFor = 60_000;
/** Milliseconds to share a problem. People who fix it reload the page, or try again. */
const problemFreshFor = 10_000;
/** Milliseconds that a request waits for a check of the repository. The check then continues for the next request. */
const reportPatience = 3_000;
/** Milliseconds to wait for GitHub's answers about single branches. What it does not answer in time is unknown. */
const branchPatience = 2_000;
const mostReportsKept = 1_000;

export type EnforcementReport = EnforcementSettings & {
  /** Whether GitHub refuses to merge what freezes hold. */
  enforced: boolean | 'unknown';
  /** The pull requests that freezes hold or should hold. */
  held: HeldPullRequest[];
  /** Whether a ruleset holds the repository at once. */
  instant: Instant;
};

/** What its answers are kept under: after GitHub told that rules changed, former ones no longer count. */
type Place = Pick<FoundRepository, 'id' | 'rulesVersion'>;
const answerPlaceOf = ({ id, rulesVersion }: Place): string => `${id} ${rulesVersion}`;

/** All answers about a repository use the same check, so they agree. */
const answersOf = answersPerService<EnforcementSettings>(mostReportsKept, ({ findings }) =>
  isEnforced(findings) === true ? enforcedFreshFor : problemFreshFor,
);

/** Checks now whether the freezes of a repository are enforced. */
export async function lookAtEnforcement(deps: Deps, repository: FoundRepository): Promise<EnforcementReport> {
  const settings = await answersOf(deps).refresh(answerPlaceOf(repository), () =>
    checkAndNote(deps, repository),
  );
  return withHeld(deps, repository, settings);
}

/**
 * Whether the freezes of a repository are enforced. The answer is a minute old at most.
 * @returns null if the check takes longer than a request waits.
 */
export async function recentEnforcement(
  deps: Deps,
  repository: FoundRepository,
): Promise<EnforcementReport | null> {
  const answer = answersOf(deps).get(answerPlaceOf(repository), () => checkAndNote(deps, repository));
  const settings = await within(reportPatience, answer);
  return settings && withHeld(deps, repository, settings);
}

async function checkAndNote(deps: Deps, repository: FoundRepository): Promise<EnforcementSettings> {
  const settings = await checkSettings(deps, repository);
  const isThere = ([branch]: [string, boolean]) => !settings.absent.includes(branch);
  noteRequired(deps, repository, [...settings.required].filter(isThere));
  noteEnvironments(deps, repository, settings.environments);
  return settings;
}

/** Our tables say what is held, so that part is always current. */
async function withHeld(
  deps: Deps,
  repository: FoundRepository,
  settings: EnforcementSettings,
): Promise<EnforcementReport> {
  const [held, instant, work] = await Promise.all([
    repository.archived ? [] : heldPullRequests(deps, repository.id),
    readInstant(deps.sql, repository.id),
    readWork(deps),
  ]);
  const waiting = held.filter(({ notHeld }) => notHeld === 'waiting');
  const now = nowOf(deps.clock).getTime();
  const since = Math.min(now, ...waiting.map(({ waitingSince }) => waitingSince?.getTime() ?? now));
  const wait = {
    minutes: Math.floor((now - since) / 60_000),
    takes: about(await secondsUntilHeld(deps, repository.installation.id, waiting.length)),
  };
  const ofTables = [...judgeHeld(held, remedyTargetOf(deps, repository), wait), ...judgeInstant(instant)];
  const isUnjudged =
    !repository.archived &&
    work.overdueSince !== null &&
    (await hasUnjudged(deps.db, repository, nowOf(deps.clock)));
  const findings = [...ofTables, ...settings.findings, ...judgeWork(work, isUnjudged)];
  return { ...settings, enforced: isEnforced(findings), findings, held, instant };
}

/**
 * About how long until GitHub blocks what waits.
 * @param open how many pull requests wait that no ruleset blocks. Others of the owner may be written before them.
 */
export async function secondsUntilHeld(deps: Deps, installationId: bigint, open: number): Promise<number> {
  if (open === 0) return 0;
  const { waiting, ...pace } = await readWaiting(deps.sql, installationId);
  return secondsOf(Math.max(open, waiting), paceOf(deps, pace));
}

/** For a freeze of everything, we check at most this many branches, the default branch first. */
const mostBranches = 10;

const unenforcedOf = answersPerService<Unenforced[]>(mostReportsKept, (missing) =>
  missing.length > 0 ? problemFreshFor : enforcedFreshFor,
);

/**
 * The branches that a freeze can affect and that are known not to require our check. Never throws and takes 2 s at most.
 * If GitHub does not answer in time, the branch is not reported.
 */
export async function unenforcedBranches(
  deps: Needed,
  repository: FoundRepository,
  freeze: Freeze,
): Promise<Unenforced[]> {
  const only = onlyBranches(freeze);
  const key = `${answerPlaceOf(repository)} ${JSON.stringify(only)}`;
  const branches = await unenforcedOf(deps).get(key, () => findUnenforced(deps, repository, only));
  const excluded = excludedBranches(freeze);
  return branches.filter(({ branch }) => !excluded.includes(branch));
}

async function findUnenforced(
  deps: Needed,
  repository: FoundRepository,
  only: string[] | null,
): Promise<Unenforced[]> {
  const asking = { deps, repository, signal: AbortSignal.timeout(branchPatience) };
  const branches: LookedAtBranch[] = only
    ? only.map((name) => ({ name, reason: 'freeze' }))
    : allBranches(await readBranches(asking, []));
  const facts = await Promise.all(
    branches.slice(0, mostBranches).map((branch) => readRequirements(asking, branch)),
  );
  const target = remedyTargetOf(deps, repository);
  // Pages that count what is blocked know it at once.
  noteRequired(
    deps,
    repository,
    facts.flatMap((each) => {
      const word = requiredWord(each, target);
      return each.reason === 'default'
        ? [[each.name, word] as const, [null, word] as const]
        : [[each.name, word] as const];
    }),
  );
  return facts
    .filter((each) => judgeRequired(each, target).state === 'failed')
    .map((each) => ({ branch: each.name, why: whyNever(each, target) }));
}

const mostBranchesKept = 10_000;
/** Checks per minute and repository, because anybody may ask about branches and environments of a public repository. */
const checksPerMinute = 10;
/** The share of GitHub's hourly rate limit that we reserve for holding pull requests. */
const reserved = 1 / 4;

/** Milliseconds that pages of many repositories show that a branch requires our check: asking about each is dear. */
const shownFor = 300_000;
const lifeOfWord = (word: boolean | 'unknown'): number => (word === true ? shownFor : enforcedFreshFor);
const placesOf = answersPerService(mostBranchesKept, lifeOfWord);
/** What other questions taught. Pages show it at once; who asks about a place itself does not get less than an answer. */
const learnedOf = answersPerService(mostBranchesKept, lifeOfWord);

/**
 * Whether GitHub refuses what freezes hold in a place: to merge into a branch, or to deploy to an environment before
 * Holdfast lets it. The answer is a minute old at most.
 * @param reserve the share of the hour's requests that the question leaves.
 */
export async function placeEnforcement(
  deps: Needed,
  repository: FoundRepository,
  asked: FreezeQuery,
  reserve = reserved,
): Promise<boolean | 'unknown'> {
  const { products, installation } = repository;
  if (!freezesAreOn(products) || installation.suspendedAt) return false;
  const check = () => checkPlace(deps, repository, asked, reserve);
  return placesOf(deps).get(branchKeyOf(repository, asked), check, enforcedFreshFor);
}

/**
 * What GitHub said about a place, or is being asked; undefined if we would have to ask.
 * @param longest milliseconds since the question. What counts for an answer of the API is a minute old at most.
 */
export function knownEnforcement(
  deps: Needed,
  place: Place,
  asked: FreezeQuery,
  longest = shownFor,
): Promise<boolean | 'unknown'> | undefined {
  const key = branchKeyOf(place, asked);
  const kept = [placesOf(deps), learnedOf(deps)];
  const within = (age: number) => kept.map((each) => each.known(key, age)).find((each) => each !== undefined);
  return within(enforcedFreshFor) ?? within(longest);
}

/** The answer, if GitHub has given it; null if GitHub is being asked or was never asked. */
export const ifKnown = async (
  answer: ReturnType<typeof knownEnforcement>,
): Promise<boolean | 'unknown' | null> => Promise.race([answer ?? null, null]);

/** Whether branches require our check, of those of which GitHub has said it. Asks GitHub nothing. */
export async function knownRequirements(
  deps: Needed,
  place: Place,
  bases: Iterable<string | null>,
): Promise<ReadonlyMap<string, boolean>> {
  const found = new Map<string, boolean>();
  for (const base of new Set(bases)) {
    const word = base === null ? null : await ifKnown(knownEnforcement(deps, place, { base }));
    if (typeof word === 'boolean') found.set(base!, word);
  }
  return found;
}

/** Keeps what was learned on the way, so that all pages and answers agree. @param words by branch; null is the default branch. */
function noteRequired(
  deps: Needed,
  repository: FoundRepository,
  words: (readonly [branch: string | null, word: boolean | 'unknown'])[],
): void {
  // Then no branch matters.
  if (!freezesAreOn(repository.products) || lacksVital(repository)) return;
  for (const [base, word] of words)
    if (word !== 'unknown') void learnedOf(deps).refresh(branchKeyOf(repository, { base }), async () => word);
}

/** GitHub ignores the case of names of environments. */
const branchKeyOf = (place: Place, asked: FreezeQuery): string =>
  JSON.stringify([
    answerPlaceOf(place),
    'environment' in asked ? { environment: asked.environment.toLowerCase() } : asked.base,
  ]);

async function checkPlace(
  deps: Needed,
  repository: FoundRepository,
  asked: FreezeQuery,
  reserve: number,
): Promise<boolean | 'unknown'> {
  const isOfMerges = !('environment' in asked);
  if (isOfMerges && lacksVital(repository)) return false;
  if (!(await mayAskAbout(deps, repository, reserve))) return 'unknown';
  const asking = { deps, repository, signal: AbortSignal.timeout(branchPatience) };
  if (isOfMerges) return isRequiredOn(asking, asked.base);
  const waits = await waitsForUs(asking, asked.environment);
  return waits.known ? waits.value : 'unknown';
}

function lacksVital({ installation }: FoundRepository): boolean {
  const permissions = installation.permissions as Record<string, string>;
  return missingPermissions({ permissions, events: [] }).some((name) => vital.has(name));
}

/** @param branch null for the default branch. */
async function isRequiredOn(asking: Asking, branch: string | null): Promise<boolean | 'unknown'> {
  const { deps, repository } = asking;
  const name = branch === null ? await readDefaultBranch(asking) : known(branch);
  if (!name.known) return 'unknown';
  const facts = await readRequirements(asking, { name: name.value, reason: 'freeze' });
  const word = requiredWord(facts, remedyTargetOf(deps, repository));
  if (branch === null) noteRequired(deps, repository, [[name.value, word]]);
  return word;
}

function requiredWord(facts: BranchFacts, target: RemedyTarget): boolean | 'unknown' {
  const { state } = judgeRequired(facts, target);
  if (state === 'failed') return false;
  // A branch that does not exist lacks nothing, and nothing merges into it. It may be gone for good.
  const isThere = facts.exists.known && facts.exists.value;
  return state === 'unknown' || !isThere ? 'unknown' : true;
}

async function mayAskAbout(
  deps: Needed,
  { id, installation }: FoundRepository,
  reserve: number,
): Promise<boolean> {
  const count = { name: `branches ${id}`, perMinute: checksPerMinute };
  return (await mayAskNow(deps, installation.id, reserve, count)) === 'yes';
}
