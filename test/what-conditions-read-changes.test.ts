import { beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../sandbox/github.ts';
import { type Acme, acmeForAll } from './support/acme.ts';

// For each event: a pull request, a freeze that reads what the event changes, and what it holds before and after.

const acme = acmeForAll();
let names = 0;
beforeAll(async () => {
  for (const login of ['cat', 'dan']) acme.github.addUser(login);
  acme.github.addTeam('acme', 'core', ['ada']);
  await acme.quiet();
});

type Opened = NonNullable<Parameters<Acme['repository']>[1]>[number];
type Row = {
  event: string;
  opened?: Opened;
  matching: unknown[];
  before: boolean;
  /** Whether it wakes the whole repository, and would serve the other rows there too. */
  isOfRepository?: true;
  happens: (github: Sandbox, repository: string, number: number) => void;
};

const rows: Row[] = [
  {
    event: 'a label is renamed',
    isOfRepository: true,
    opened: { labels: ['risky'] },
    matching: ['label=risky'],
    before: true,
    happens: (github, repository) => github.renameLabel(repository, 'risky', 'harmless'),
  },
  {
    event: 'a label is deleted',
    isOfRepository: true,
    opened: { labels: ['hotfix'] },
    matching: ['label!=hotfix'],
    before: false,
    happens: (github, repository) => github.deleteLabel(repository, 'hotfix'),
  },
  {
    event: 'it is labelled',
    matching: ['#label>0'],
    before: false,
    happens: (github, repository, number) => github.label(repository, number, 'x'),
  },
  {
    event: 'it is assigned',
    matching: ['assignee=cat'],
    before: false,
    happens: (github, repository, number) => github.assign(repository, number, 'cat'),
  },
  {
    event: 'it is unassigned',
    opened: { assignees: ['cat'] },
    matching: ['#assignee=1'],
    before: true,
    happens: (github, repository, number) => github.unassign(repository, number, 'cat'),
  },
  {
    event: 'a review is requested',
    matching: ['review-requested=cat'],
    before: false,
    happens: (github, repository, number) => github.requestReview(repository, number, 'cat'),
  },
  {
    event: 'a request for review is withdrawn',
    opened: { reviewRequests: ['cat'] },
    matching: ['review-requested=cat'],
    before: true,
    happens: (github, repository, number) => github.withdrawReviewRequest(repository, number, 'cat'),
  },
  {
    event: 'a team’s review is requested',
    matching: ['review-requested=@acme/core'],
    before: false,
    happens: (github, repository, number) => github.requestTeamReview(repository, number, 'core'),
  },
  {
    event: 'it is approved by somebody with write access',
    matching: ['-approved-reviews-by=bob'],
    before: true,
    happens: (github, repository, number) =>
      void github.review(repository, number, { by: 'bob', state: 'APPROVED' }),
  },
  {
    event: 'changes are requested',
    matching: ['#changes-requested-reviews-by>=1'],
    before: false,
    happens: (github, repository, number) =>
      void github.review(repository, number, { by: 'bob', state: 'CHANGES_REQUESTED' }),
  },
  {
    event: 'it is commented on in a review',
    matching: ['commented-reviews-by=bob'],
    before: false,
    happens: (github, repository, number) =>
      void github.review(repository, number, { by: 'bob', state: 'COMMENTED' }),
  },
  {
    event: 'GitHub’s verdict on the reviews changes',
    matching: ['github-review-decision=REVIEW_REQUIRED'],
    before: true,
    happens: (github, repository, number) =>
      void github.review(repository, number, { by: 'bob', state: 'APPROVED' }),
  },
  {
    event: 'a review thread begins',
    matching: ['#review-threads-unresolved>0'],
    before: false,
    happens: (github, repository, number) =>
      void github.startThread(repository, number, { by: 'bob', body: 'Why?' }),
  },
  {
    event: 'it gets a milestone',
    matching: ['milestone=2.0'],
    before: false,
    happens: (github, repository, number) => github.setMilestone(repository, number, '2.0'),
  },
  {
    event: 'its milestone is renamed',
    isOfRepository: true,
    opened: { milestone: '2.0' },
    matching: ['milestone=2.0'],
    before: true,
    happens: (github, repository) => github.renameMilestone(repository, '2.0', '2.1'),
  },
  {
    event: 'its milestone is deleted',
    isOfRepository: true,
    opened: { milestone: '2.0' },
    matching: ['milestone!=2.0'],
    before: false,
    happens: (github, repository) => github.deleteMilestone(repository, '2.0'),
  },
  {
    event: 'it is retargeted',
    matching: ['base=main'],
    before: true,
    happens: (github, repository, number) => github.retarget(repository, number, 'release'),
  },
  {
    event: 'it becomes a draft',
    matching: ['-draft'],
    before: true,
    happens: (github, repository, number) => github.markDraft(repository, number),
  },
  {
    event: 'it is retitled',
    matching: ['#title>40'],
    before: false,
    happens: (github, repository, number) => github.editTitle(repository, number, 'x'.repeat(41)),
  },
  {
    event: 'its description changes',
    matching: ['body~=^ready'],
    before: false,
    happens: (github, repository, number) =>
      github.editBody(repository, number, '<!-- not --> \nready'.replace(/^.*\n/, '')),
  },
  {
    event: 'its conversation is locked',
    matching: ['locked'],
    before: false,
    happens: (github, repository, number) => github.lock(repository, number),
  },
  {
    event: 'another head is pushed',
    opened: { files: ['docs/a.md'] },
    matching: ['files*=src/**'],
    before: false,
    happens: (github, repository, number) => void github.push(repository, number, { files: ['src/a.ts'] }),
  },
  {
    event: 'a commit is added',
    matching: ['#commits>1'],
    before: false,
    happens: (github, repository, number) => void github.push(repository, number),
  },
  {
    event: 'a check ends',
    matching: ['check-success!=ci'],
    before: true,
    happens: (github, repository, number) =>
      github.reportCheck(repository, number, { name: 'ci', conclusion: 'success' }),
  },
  {
    event: 'a check of an App fails',
    matching: ['check-failure=@circleci/ci'],
    before: false,
    happens: (github, repository, number) =>
      github.reportCheck(repository, number, { name: 'ci', app: 'circleci', conclusion: 'timed_out' }),
  },
  {
    event: 'a check begins',
    matching: ['check-pending=ci'],
    before: false,
    happens: (github, repository, number) => github.reportCheck(repository, number, { name: 'ci' }),
  },
  {
    event: 'somebody else posts a status',
    matching: ['check-success=legacy'],
    before: false,
    happens: (github, repository, number) =>
      github.postStatus(repository, number, { by: 'bob', state: 'success', context: 'legacy' }),
  },
  {
    event: 'a deployment succeeds',
    isOfRepository: true,
    matching: ['deployment-success!=staging'],
    before: true,
    happens: (github, repository, number) => github.deploy(repository, number, 'staging', 'success'),
  },
  {
    event: 'somebody else pushes to it',
    matching: ['last-pushed-by=cat'],
    before: false,
    happens: (github, repository, number) => void github.push(repository, number, { by: 'cat' }),
  },
  {
    event: 'its base moves',
    isOfRepository: true,
    matching: ['#commits-behind>2'],
    before: false,
    happens: (github, repository) => github.pushToBranch(repository, 'main', { commits: 3 }),
  },
  {
    event: 'its base moves into a conflict',
    isOfRepository: true,
    matching: ['conflict'],
    before: false,
    happens: (github, repository, number) =>
      github.pushToBranch(repository, 'main', { conflictsWith: [number] }),
  },
  {
    event: 'another one that it depends on is merged',
    isOfRepository: true,
    opened: { body: 'Depends-On: #2' },
    matching: ['#depends-on=0'],
    before: true,
    happens: (github, repository) => void github.merge(repository, 2),
  },
];

// Bob may write.
const options = { roles: { bob: 'write' } } as const;

/** A repository with this pull request, which a freeze may hold, and a second one to be merged. */
async function given({ opened = {}, matching }: Pick<Row, 'opened' | 'matching'>): Promise<string> {
  const repository = await acme.repository(`case-${names++}`, [opened, {}], options);
  await acme.freeze(repository, { matching_conditions: [...matching, 'number=1'] });
  return repository;
}

const isHeld = (repository: string, number = 1) => acme.shown(repository, number)!.state === 'pending';

describe('an event of one pull request', () => {
  const own = rows.filter(({ isOfRepository }) => !isOfRepository);
  const seen = new Map<Row, { before: boolean; after: NonNullable<ReturnType<Acme['shown']>> }>();
  // In one repository, a pull request and a freeze for each: what wakes one of them serves no other.
  beforeAll(async () => {
    const repository = await acme.repository(
      'shared',
      own.map(({ opened = {} }) => opened),
      options,
    );
    for (const [index, { matching }] of own.entries()) {
      await acme.freeze(repository, { matching_conditions: [...matching, `number=${index + 1}`] });
    }
    const before = own.map((_row, index) => isHeld(repository, index + 1));
    own.forEach((row, index) => row.happens(acme.github, repository, index + 1));
    await acme.quiet();
    own.forEach((row, index) => {
      seen.set(row, { before: before[index]!, after: acme.shown(repository, index + 1)! });
    });
  });

  test.each(own)('$event', (row) => {
    const { before, after } = seen.get(row)!;
    expect(before).toBe(row.before);
    expect(after.description).not.toContain('could not be judged');
    expect(after.state).toBe(row.before ? 'success' : 'pending');
  });
});

test.each(rows.filter(({ isOfRepository }) => isOfRepository))('$event', async (row) => {
  const repository = await given(row);
  expect(isHeld(repository)).toBe(row.before);
  row.happens(acme.github, repository, 1);
  await acme.quiet();
  // Pushes are looked at some seconds later, many at once.
  await acme.advanceTo(new Date(acme.clock.now() + 20_000));
  expect(acme.shown(repository, 1)!.description).not.toContain('could not be judged');
  expect(isHeld(repository)).toBe(!row.before);
});

test('a review by somebody without write access counts for nothing', async () => {
  const repository = await given({ matching: ['#approved-reviews-by=0'] });
  acme.github.review(repository, 1, { by: 'dan', state: 'APPROVED' });
  await acme.quiet();
  expect(isHeld(repository)).toBe(true);
});

test('a thread is resolved, and opened again', async () => {
  const repository = await given({ matching: ['#review-threads-unresolved>0'] });
  const id = acme.github.startThread(repository, 1, { by: 'bob', body: 'Why?' });
  await acme.quiet();
  expect(isHeld(repository)).toBe(true);
  acme.github.resolveThread(repository, 1, id);
  await acme.quiet();
  expect(isHeld(repository)).toBe(false);
  acme.github.unresolveThread(repository, 1, id);
  await acme.quiet();
  expect(isHeld(repository)).toBe(true);
});

test('a required check that nobody has reported is pending', async () => {
  const repository = await given({ matching: ['check-pending=build'] });
  expect(isHeld(repository)).toBe(false);
  acme.github.protect(repository, 'main', ['holdfast/freeze', 'build']);
  acme.github.editTitle(repository, 1, 'Look again');
  await acme.quiet();
  expect(isHeld(repository)).toBe(true);
  acme.github.reportCheck(repository, 1, { name: 'build', conclusion: 'success' });
  await acme.quiet();
  expect(isHeld(repository)).toBe(false);
});

describe('a team', () => {
  test('joining, leaving it and leaving the organization wake the repositories that name it', async () => {
    const repository = await given({ opened: { author: 'cat' }, matching: ['author=@acme/core'] });
    acme.github.setMembership('acme', 'cat', 'member');
    expect(isHeld(repository)).toBe(false);
    for (const change of ['joinTeam', 'leaveTeam', 'joinTeam'] as const) {
      acme.github[change]('acme', 'core', 'cat');
      await acme.quiet();
      expect(isHeld(repository)).toBe(change === 'joinTeam');
    }
    acme.github.leaveOrganization('acme', 'cat');
    await acme.quiet();
    expect(isHeld(repository)).toBe(false);
  });

  test('a missing one holds, in both lists, and says why; and is found when it is made', async () => {
    const repository = await acme.repository(`case-${names++}`, [{ author: 'dan' }]);
    await acme.freeze(repository, { exclude_conditions: ['-author=@acme/later'] });
    expect(acme.shown(repository, 1)).toEqual({
      state: 'pending',
      description: 'Frozen until removed: could not be judged: there is no team @acme/later',
    });
    acme.github.addTeam('acme', 'later', ['ada']);
    await acme.quiet();
    expect(isHeld(repository)).toBe(false);
    acme.github.deleteTeam('acme', 'later');
    await acme.quiet();
    expect(isHeld(repository)).toBe(true);
  });
});

describe('events that change nothing that a condition reads', () => {
  const reads = () => acme.github.requests.filter(({ path }) => path.startsWith('/graphql')).length;

  test('are dropped without asking GitHub, and leave no trace', async () => {
    const repository = await given({ matching: ['base=main'] });
    const deliveries = await acme.app.deps.db.webhookDelivery.count();
    const before = reads();
    const { github } = acme;
    github.reportCheck(repository, 1, { name: 'ci', conclusion: 'success' });
    github.postStatus(repository, 1, { by: 'bob', state: 'success', context: 'legacy' });
    github.deploy(repository, 1, 'staging', 'success');
    github.pushToBranch(repository, 'main');
    await acme.quiet();
    expect(reads()).toBe(before);
    expect(await acme.app.deps.db.webhookDelivery.count()).toBe(deliveries);
  });

  test('our own status wakes nothing, even if a freeze reads checks', async () => {
    const repository = await given({ matching: ['check-failure=ci'] });
    const before = reads();
    acme.github.label(repository, 1, 'x');
    await acme.quiet();
    const oneLook = reads() - before;
    acme.github.reportCheck(repository, 1, { name: 'ci', conclusion: 'failure' });
    await acme.quiet();
    expect(isHeld(repository)).toBe(true);
    // The look that the check caused, and none after the status that we then wrote.
    expect(reads() - before).toBe(2 * oneLook);
  });

  test('when no freeze reads checks, they are dropped', async () => {
    const repository = await acme.repository(`case-${names++}`, [{}]);
    const { id } = await acme.freeze(repository, { matching_conditions: ['check-failure=ci'] });
    await acme.update(repository, id, { matching_conditions: ['base=main'] });
    const before = reads();
    acme.github.reportCheck(repository, 1, { name: 'ci', conclusion: 'failure' });
    await acme.quiet();
    expect(reads()).toBe(before);
  });
});
