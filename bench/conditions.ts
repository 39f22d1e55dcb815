// How fast conditions are judged, beside a predicate that somebody wrote by hand for the same freeze.
import type { PullRequestFacts } from '../src/github/pull-requests/pull-request.ts';
import type { Exemption } from '../src/exemptions/exemption.ts';
import type { Freeze } from '../src/freezes/freeze.ts';
import type { LoadedPullRequest } from '../src/github/pull-requests/load-pull-requests.ts';
import { judge } from '../src/statuses/judge.ts';
import { atLeast, compare } from './figure.ts';
import type { Bench } from './bench.ts';
import { median } from './statistics.ts';
import { judgeFreeze, parseFreeze } from '../src/freezes/judge-freeze.ts';

const pullRequestCount = 10_000;
const freezeCount = 20;
const leaves = 5;
const exemptionCount = 100;
const rounds = 9;

/** Repeatable, so that two runs judge the same pull requests. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const folders = ['infra/', 'web/', 'api/', 'docs/', 'db/migrations/'];
const labels = ['hotfix', 'risky', 'docs', 'payments', 'size/L', 'wip'];

function pullRequests(): PullRequestFacts[] {
  const random = numbers(7);
  return Array.from({ length: pullRequestCount }, (_, index) => ({
    number: index + 1,
    nodeId: `PR_${index}`,
    headSha: index.toString(16).padStart(40, '0'),
    values: {
      base: random(4) > 0 ? 'main' : `release/${random(9)}`,
      head: `topic-${random(500)}`,
      author: random(5) > 0 ? `dev-${random(40)}` : 'dependabot[bot]',
      draft: random(6) === 0,
      title: `Change ${random(1000)} of the ${labels[random(labels.length)]!}`,
      label: labels.filter(() => random(4) === 0),
      files: Array.from(
        { length: 1 + random(12) },
        () => `${folders[random(folders.length)]!}file-${random(200)}.ts`,
      ),
      'approved-reviews-by': Array.from({ length: random(4) }, (_each, at) => `dev-${at}`),
    },
    whyNotKnown: {},
    hasEveryScope: false,
    teams: new Map(),
  }));
}

/** Five leaves each; the twenty differ only in the values that they look for. */
function freeze(index: number): Freeze {
  const folder = folders[index % folders.length]!;
  return {
    id: String(index),
    repositoryId: 1n,
    reason: 'Bench',
    start: '2026-03-01T00:00:00',
    end: null,
    timezone: 'UTC',
    startsAt: new Date(0),
    endsAt: null,
    matchingConditions: ['base=main', `files~=^${folder}`, '-draft'],
    excludeConditions: [`label=${labels[index % labels.length]!}`, '#approved-reviews-by>=2'],
  };
}

type Values = {
  base: string;
  files: string[];
  draft: boolean;
  label: string[];
  'approved-reviews-by': string[];
};

/** What a programmer would write for it. */
function byHand(index: number): (values: Values) => boolean {
  const folder = new RegExp(`^${folders[index % folders.length]!}`);
  const label = labels[index % labels.length]!;
  return (values) =>
    values.base === 'main' &&
    values.files.some((file) => folder.test(file)) &&
    !values.draft &&
    !(values.label.includes(label) && values['approved-reviews-by'].length >= 2);
}

/** @returns how many are held. */
type Work = () => number | Promise<number>;

async function seconds(work: Work): Promise<{ seconds: number; held: number }> {
  const start = process.hrtime.bigint();
  const held = await work();
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9, held };
}

/** As observations load it: free so far. */
const loaded = (facts: PullRequestFacts): LoadedPullRequest => ({
  facts,
  isOpen: true,
  isDraft: false,
  title: '',
  author: null,
  status: null,
  testMerge: null,
  isTestMergeUnderWay: false,
  headMerges: null,
  isAutoMerging: false,
  queueBranch: null,
  isMergeable: true,
  headOwner: '',
});

/** Of so many pull requests, each for all freezes. */
const exemptions = (count: number): Exemption[] =>
  Array.from({ length: count }, (_, index) => ({
    id: String(index),
    pullRequest: 1 + index * 7,
    headSha: (index * 7).toString(16).padStart(40, '0'),
    baseRef: 'main',
    headSeenAt: new Date(0),
    anyHead: false,
    freezeIds: null,
    reason: 'Bench',
    publicReason: null,
    state: 'approved',
    requestedAt: new Date(0),
    approvedAt: new Date(0),
    endedAt: null,
    expiresAt: new Date('2099-01-01T00:00:00Z'),
  }));

/** Both in turns in one process, so that what else the machine does meets both. */
export const benchConditions: Bench = {
  name: 'conditions',
  title: 'Judging conditions',
  run: async ({ isQuick }) => {
    const facts = pullRequests();
    const freezes = Array.from({ length: freezeCount }, (_, index) => parseFreeze(freeze(index)));
    const predicates = Array.from({ length: freezeCount }, (_, index) => byHand(index));
    const now = Date.parse('2026-03-02T10:00:00Z');
    const ours = () => {
      let held = 0;
      for (const one of facts)
        for (const each of freezes) if (judgeFreeze(each, one, now) === 'frozen') held += 1;
      return held;
    };
    const floor = () => {
      let held = 0;
      for (const { values } of facts) for (const each of predicates) if (each(values as Values)) held += 1;
      return held;
    };
    const count = isQuick ? 4 : rounds;
    const inTurns = async (ours: Work, floor: Work) => {
      const all = [];
      for (let run = 0; run < count; run++)
        all.push({ ours: await seconds(ours), floor: await seconds(floor) });
      const runs = all.slice(2);
      const of = (side: 'ours' | 'floor') => median(runs.map((run) => run[side].seconds));
      return { runs, ours: of('ours'), floor: of('floor') };
    };
    const evaluations = pullRequestCount * freezeCount;
    const judged = await inTurns(ours, floor);
    if (judged.runs.some((run) => run.ours.held !== run.floor.held)) throw new Error('The two do not agree.');
    const open = facts.map(loaded);
    const heldWith = (exempt: Exemption[]) => async () => {
      const standards = { freezes, exemptions: exempt, hiding: [], observedAt: new Date(now) };
      return (await judge(standards, open)).judged.filter(({ holds }) => holds.length > 0).length;
    };
    const exempting = await inTurns(heldWith(exemptions(exemptionCount)), heldWith([]));
    if (exempting.runs.some((run) => run.ours.held >= run.floor.held)) throw new Error('Nothing is exempt.');
    return {
      figures: [
        compare(
          'conditions',
          'judgements of a pull request by a freeze',
          '/s',
          evaluations / judged.ours,
          evaluations / judged.floor,
        ),
        compare(
          'conditions',
          `the same with the verdicts of their commits, and ${exemptionCount} exemptions`,
          '/s',
          evaluations / exempting.ours,
          evaluations / exempting.floor,
          atLeast(0.8),
        ),
      ],
      notes: [
        `${pullRequestCount} pull requests, ${freezeCount} freezes of ${leaves} conditions each. The floor is a predicate that somebody wrote by hand for the same freeze; with exemptions it is the same judging without them.`,
      ],
    };
  },
};
