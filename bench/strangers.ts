// How soon freezes of other repositories begin and end while a stranger makes us write, or read, without end.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { compare, type Figure, upTo } from './figure.ts';
import { makeKey, type Service, startGitHub, startService } from './service.ts';

/** Pull requests of the stranger, how often all of them change, and how long before we measure. */
const many = 15;
const every = 4000;
const leads = 30_000;
const perMinute = 75;
const longest = 180_000;

/** Of the stranger who makes us read: pull requests, the files of each, and how often a title changes, each second. */
const large = 5;
const filesOfEach = 2990;
const edits = 160;
/** What GitHub gives an installation in an hour. */
const perHour = 5000;

type Attack = { name: string; run(github: Sandbox): void };

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const pushTo = (repository: string) => (github: Sandbox) => {
  for (const number of numbers(many)) github.push(repository, number);
};
const retarget = (github: Sandbox) => {
  const base = github.pullRequests('acme/pub')[0]!.base === 'main' ? 'release' : 'main';
  for (const number of numbers(many)) github.retarget('acme/pub', number, base);
};

const control: Attack = { name: 'nobody', run: () => {} };
const attacks: Attack[] = [
  { name: 'pushes', run: pushTo('acme/pub') },
  { name: 'pushes under an instant hold', run: pushTo('acme/lock') },
  { name: 'retargeting', run: retarget },
];

/** Seconds until every pull request of a repository shows a state. */
async function seconds(github: Sandbox, repository: string, state: string): Promise<number> {
  const began = performance.now();
  const waits = () =>
    github
      .pullRequests(repository)
      .some(({ number }) => github.currentStatus(repository, number)?.state !== state);
  while (waits() && performance.now() - began < longest) await sleep(50);
  return waits() ? Infinity : (performance.now() - began) / 1000;
}

const freezesOf = (repository: string) => `/v1/repos/${repository}/scheduled_freeze`;
const freeze = async (service: Service, key: string, repository: string, more: object = {}) => {
  const body = { reason: 'Release', start: null, timezone: 'UTC', ...more };
  return (await service.call('POST', freezesOf(repository), key, body)).body.id as string;
};

/** Seconds until all were held or released: one freeze begins, one ends, and both at the same time. */
type Measured = { held: number; released: number; heldOfBoth: number; releasedOfBoth: number };

async function measure(attack: Attack, each: number, connectionString: string): Promise<Measured> {
  const { github, token } = await startGitHub();
  github.addUser('eve');
  const second = github.addSecondApp();
  const protect = { main: ['holdfast/freeze'], release: ['holdfast/freeze'] };
  const add = (repository: string, count: number, author: string) => {
    github.addRepository(repository, { protect });
    const given = author === 'eve' ? { fork: true, title: 'docs: typo' } : {};
    for (let made = 0; made < count; made++) github.openPullRequest(repository, { author, ...given });
  };
  for (const repository of ['acme/pub', 'acme/lock']) add(repository, many, 'eve');
  const [ending, beginning] = ['secret', 'other'].map((name) => [`acme/${name}-1`, `acme/${name}-2`]);
  for (const repository of [...ending!, ...beginning!]) add(repository, each, 'ada');
  // GitHub computes whether they can be merged after each push to their base.
  for (const repository of beginning!)
    for (const number of numbers(each / 2)) github.setTestMergeUnderWay(repository, number, true);
  const apps = { LOCK_APP_ID: String(second.id), LOCK_PRIVATE_KEY: second.privateKey };
  const where = { connectionString };
  let service = await startService(github, where, apps);
  let isOver = false;
  try {
    github.install('acme');
    github.install('acme', { second: true });
    for (const repository of ['acme/pub', 'acme/lock', ...ending!, ...beginning!])
      await seconds(github, repository, 'success');
    const key = await makeKey(service, token, 'admin');
    await service.call('PATCH', '/v1/repos/acme/lock/settings', key, { instant_hold: 'lock' });
    await freeze(service, key, 'acme/pub', { matching_conditions: ['base=main'] });
    await freeze(service, key, 'acme/lock', { exclude_conditions: ['title~=^docs'] });
    const ids: string[] = [];
    for (const repository of ending!) ids.push(await freeze(service, key, repository));
    for (const repository of [...ending!, 'acme/pub']) await seconds(github, repository, 'pending');
    await service.stop();
    // What came before was not paced.
    const pace = { STATUS_WRITES_PER_MINUTE: `${perMinute}-${perMinute}` };
    service = await startService(github, where, { ...apps, ...pace });
    const attacking = (async () => {
      for (; !isOver; await sleep(every)) attack.run(github);
    })();
    await sleep(leads);
    const end = (index: number) =>
      service.call('POST', `${freezesOf(ending![index]!)}/${ids[index]}/delete`, key, {
        delete_reason: 'Done',
      });
    await end(0);
    const released = await seconds(github, ending![0]!, 'success');
    await freeze(service, key, beginning![0]!);
    const held = await seconds(github, beginning![0]!, 'pending');
    await sleep(leads / 3);
    await Promise.all([end(1), freeze(service, key, beginning![1]!)]);
    const [heldOfBoth, releasedOfBoth] = await Promise.all([
      seconds(github, beginning![1]!, 'pending'),
      seconds(github, ending![1]!, 'success'),
    ]);
    isOver = true;
    await attacking;
    return { held, released, heldOfBoth, releasedOfBoth };
  } finally {
    isOver = true;
    await service.stop();
    await github.close();
  }
}

/** The part of the hour that was used in percent, and the seconds until an emergency freeze of another repository held. */
type MeasuredReads = { used: number; held: number };

/** @param isAttacked whether a stranger opens large pull requests where a freeze reads files, and edits their titles. */
async function measureReads(
  isAttacked: boolean,
  each: number,
  count: number,
  connectionString: string,
): Promise<MeasuredReads> {
  const { github, token } = await startGitHub();
  github.addUser('eve');
  for (const repository of ['acme/pub', 'acme/secret'])
    github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
  for (let made = 0; made < each; made++) github.openPullRequest('acme/secret', { author: 'ada' });
  const where = { connectionString };
  let service = await startService(github, where);
  try {
    github.install('acme');
    await seconds(github, 'acme/secret', 'success');
    const key = await makeKey(service, token, 'admin');
    // What leaves the sources alone passes. Only the last file says whether that is so.
    await freeze(service, key, 'acme/pub', { exclude_conditions: ['-files~=^src/'] });
    await service.stop();
    service = await startService(github, where, { STATUS_WRITES_PER_MINUTE: `${perMinute}-${perMinute}` });
    github.rateLimits.core = github.rateLimits.graphql = perHour;
    github.beginHour();
    const files = Array.from({ length: filesOfEach }, (_, at) => `docs/page-${at}.md`);
    const given = { author: 'eve', fork: true, files };
    const opened = numbers(isAttacked ? large : 0).map(
      () => github.openPullRequest('acme/pub', given).number,
    );
    for (let edit = 0; edit < count; edit++) {
      await sleep(1000);
      if (isAttacked) github.editTitle('acme/pub', opened[edit % large]!, `Title ${edit}`);
    }
    const used = 100 * github.usedOfHour('acme');
    await freeze(service, key, 'acme/secret');
    return { used, held: await seconds(github, 'acme/secret', 'pending') };
  } finally {
    await service.stop();
    await github.close();
  }
}

export const benchStrangers: Bench = {
  name: 'strangers',
  title: 'Freezes while a stranger pushes without end',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const each = isQuick ? 4 : 20;
    // At the same time, because all of them wait for the pace and not for the machine.
    const reads = Promise.all(
      [false, true].map(async (isAttacked) => {
        const connectionString = await postgres.createDatabase(`strangers_read_${isAttacked}`);
        return measureReads(isAttacked, each, isQuick ? 10 : edits, connectionString);
      }),
    );
    const measured = await Promise.all(
      [control, ...attacks].map(async (attack, index) => {
        const connectionString = await postgres.createDatabase(`strangers_${index}`);
        return { attack, ...(await measure(attack, each, connectionString)) };
      }),
    );
    const [unread, read] = (await reads) as [MeasuredReads, MeasuredReads];
    const [alone, ...others] = measured as [(typeof measured)[number], ...typeof measured];
    const figures = others.flatMap((one): Figure[] => {
      const isRetargeting = one.attack.run === retarget;
      const figure = (what: string, of: keyof Measured, most: number | null) =>
        compare(
          'strangers',
          `${one.attack.name}: ${what}`,
          's',
          one[of],
          alone[of],
          ...(most === null ? [] : [upTo(isRetargeting ? 60 : most)]),
        );
      return [
        figure(`a freeze begins, ${each} held`, 'held', 30),
        figure(`a freeze ends, ${each} released`, 'released', 30),
        figure('both at once: held', 'heldOfBoth', 30),
        figure('both at once: released', 'releasedOfBoth', isRetargeting ? null : 60),
      ];
    });
    const name = `${large} pull requests with ${filesOfEach} files, ${edits} titles`;
    figures.push(
      compare('strangers', `${name}: of the hour`, '%', read.used, unread.used, upTo(20)),
      compare(
        'strangers',
        `${name}: an emergency freeze, ${each} held`,
        's',
        read.held,
        unread.held,
        upTo(10),
      ),
    );
    const notes = [
      `A stranger changes ${many} pull requests from a fork every ${every / 1000} s, from ${leads / 1000} s before: pushes in a frozen repository, pushes in one where an instant hold excludes them, and retargets to a frozen branch and back. Beside it, a freeze of another repository begins and one ends, with ${each} pull requests each. GitHub has not computed for half of those that must be held whether they can be merged. ${perMinute} statuses a minute, on PostgreSQL, from the request on.`,
      `Another stranger opens ${large} pull requests with ${filesOfEach} files each where a freeze excludes by \`files\`, and changes a title each second, ${edits} times. GitHub gives ${perHour} requests an hour; then a freeze of another repository begins.`,
      'The floor is the same without a stranger: there, the burst of a quarter of a minute is not used up.',
    ];
    return { figures, notes };
  },
};
