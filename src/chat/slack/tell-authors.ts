import { nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { isTooManyRequests, isUnavailable } from '../../errors.ts';
import type { Freeze, SlackLink, SlackTelling } from '../../generated/prisma/client.ts';
import { openPullRequestsInTime } from '../../github/pull-requests/open-pull-requests-in-time.ts';
import { type FoundRepository, fullName, repositoriesOfIds } from '../../installations/find-repository.ts';
import { pullRequestPath } from '../../page-paths.ts';
import { type Notice, loadNotices } from '../../notices/notice.ts';
import { slackAppOf } from '../../notices/slack/slack-apps.ts';
import { askSlack, SlackFailure } from '../../notices/slack/slack-client.ts';
import { defineTask, NotNow } from '../../database/queue/define-task.ts';
import { jobs } from '../../database/queue/jobs.ts';
import { describeInstant } from '../../time/local-time.ts';
import { link as linkTo, bulletList, plain } from '../../notices/slack/slack-words.ts';

/** A freeze that began or ended, with its repository. */
type RepositoryFreeze = Freeze & { repository: FoundRepository };

/** The most repositories of one plan in which authors are looked for. */
const mostAuthorRepositories = 50;
/** Milliseconds to wait for a first look at the pull requests of a freeze, and between two looks at that. */
const longestLookWait = 10 * 60_000;
const lookForAuthorsEvery = 5_000;
/** How Slack limits us is not known before. */
const looks = { name: 'authors to tell', perMinute: 60 };

/**
 * Tells authors by a direct message that a freeze blocks their pull requests, and those that it told that it is over:
 * once each, also for what one plan does to many repositories.
 * @throws NotNow while the pull requests were not looked at yet, or Slack or GitHub does not answer.
 */
async function tellAuthors(deps: Deps, eventIds: bigint[]): Promise<void> {
  const notices = await loadNotices(deps, eventIds);
  const [first] = notices;
  if (!first) return;
  if (nowOf(deps.clock).getTime() - first.at.getTime() > longestLookWait) return;
  const ids = notices.flatMap(({ freeze }) => freeze?.id ?? []).slice(0, mostAuthorRepositories);
  if (first.type === 'freeze.started') await tellBeginning(deps, first, ids);
  else await tellEnd(deps, ids);
}

async function tellBeginning(deps: Deps, notice: Notice, ids: string[]): Promise<void> {
  const freezes = await toldFreezes(deps, ids);
  const links = await linksFor(deps, freezes);
  if (links.length === 0) return;
  await assertLookedAt(deps, freezes);
  for (const { repository, id } of freezes) await noteAuthors(deps, repository, id, links);
  const waiting = await deps.db.slackTelling.findMany({ where: { freezeId: { in: ids }, beganAt: null } });
  const { reason, public_reason: publicReason } = notice.freeze!;
  for (const [person, told] of byPerson(waiting)) {
    const lines = told.flatMap(({ freezeId, pullRequests }) => {
      const { repository } = freezes.find(({ id }) => id === freezeId)!;
      return pullRequests.map((number) => pullRequest(deps, repository, number));
    });
    const isPrivate = told.every(
      ({ freezeId }) => freezes.find(({ id }) => id === freezeId)!.repository.private,
    );
    const why = plain(isPrivate ? reason : ((publicReason as string | null | undefined) ?? reason));
    const [{ endsAt, timezone }] = freezes as [RepositoryFreeze];
    const until = endsAt ? `until *${describeInstant(endsAt, timezone)}*` : 'until removed';
    const text = `A freeze blocks your pull requests ${until}: ${why}\n${bulletList(lines)}\nTo request an exemption, write \`/holdfast exempt <pull request> <reason>\`. To stop these messages, write \`/holdfast notify off\`.`;
    await send(deps, person, text);
    await settle(deps, told, { beganAt: nowOf(deps.clock) });
  }
}

async function tellEnd(deps: Deps, ids: string[]): Promise<void> {
  const where = { freezeId: { in: ids }, beganAt: { not: null }, endedAt: null };
  const freezes = await toldFreezes(deps, ids);
  for (const [person, told] of byPerson(await deps.db.slackTelling.findMany({ where }))) {
    const lines = told.flatMap(({ freezeId, pullRequests }) => {
      const found = freezes.find(({ id }) => id === freezeId);
      return found ? pullRequests.map((number) => pullRequest(deps, found.repository, number)) : [];
    });
    await send(deps, person, `The freeze is over. It no longer blocks:\n${bulletList(lines)}`);
    await settle(deps, told, { endedAt: nowOf(deps.clock) });
  }
}

const pullRequest = ({ config }: Deps, repository: FoundRepository, number: number): string =>
  linkTo(config.publicUrl + pullRequestPath(repository, number), `${fullName(repository)}#${number}`);

async function toldFreezes({ db, sql }: Deps, ids: string[]): Promise<RepositoryFreeze[]> {
  const rows = await db.freeze.findMany({ where: { id: { in: ids } } });
  const repositories = await repositoriesOfIds(
    sql,
    rows.map(({ repositoryId }) => repositoryId),
  );
  return rows.flatMap((row) => {
    const repository = repositories.find(({ id }) => id === row.repositoryId);
    return repository ? { ...row, repository } : [];
  });
}

/** People who want messages, and whose app may tell about this owner. */
async function linksFor({ db }: Deps, [freeze]: RepositoryFreeze[]): Promise<SlackLink[]> {
  if (!freeze) return [];
  const own = await db.slackApp.findUnique({ where: { accountId: freeze.repository.accountId } });
  const app = { in: ['environment', ...(own ? [own.id] : [])] };
  return db.slackLink.findMany({ where: { app, wantsMessages: true } });
}

/** @throws NotNow until every repository was looked at since its freeze began. */
async function assertLookedAt({ clock }: Deps, freezes: RepositoryFreeze[]): Promise<void> {
  const now = clock.now();
  const isOpen = freezes.some(
    ({ startsAt, repository: { reconciledAt, archived, installation } }) =>
      !archived && !installation.suspendedAt && (!reconciledAt || reconciledAt < startsAt),
  );
  const [first] = freezes as [RepositoryFreeze];
  if (isOpen && now - first.startsAt.getTime() < longestLookWait - lookForAuthorsEvery)
    throw new NotNow(new Date(now + lookForAuthorsEvery));
}

/** Notes whose open pull requests a freeze holds, of people who can read the repository. */
async function noteAuthors(
  deps: Deps,
  repository: FoundRepository,
  id: string,
  links: SlackLink[],
): Promise<void> {
  const held = await deps.db.openPullRequest.findMany({
    where: { repositoryId: repository.id, heldBy: { has: id } },
    select: { number: true },
  });
  if (held.length === 0) return;
  const numbers = new Set(held.map(({ number }) => number));
  const open = await openPullRequestsInTime(deps, repository, { facts: new Set(), teams: new Set() }, looks);
  const authors = Map.groupBy(
    (open ?? []).filter(({ facts }) => numbers.has(facts.number)),
    ({ facts }) => String(facts.values['author']).toLowerCase(),
  );
  for (const link of links) {
    const own = authors.get(link.login.toLowerCase());
    if (!own || !(await mayRead(deps, repository, link))) continue;
    const { app, teamId, userId } = link;
    const pullRequests = own.map(({ facts }) => facts.number);
    const row = { freezeId: id, app, teamId, userId, pullRequests, createdAt: nowOf(deps.clock) };
    await deps.db.slackTelling.createMany({ data: [row], skipDuplicates: true });
  }
}

/** Whether GitHub says that the login is still this person, and can read the repository. */
async function mayRead(
  deps: Deps,
  repository: FoundRepository,
  { personId, login }: SlackLink,
): Promise<boolean> {
  const person = { id: Number(personId), login };
  try {
    return (await deps.permissions.ofRepository(deps, person, repository)) !== 'none';
  } catch (error) {
    if (isUnavailable(error) || isTooManyRequests(error))
      throw new NotNow(new Date(deps.clock.now() + lookForAuthorsEvery));
    throw error;
  }
}

type Person = Pick<SlackTelling, 'app' | 'teamId' | 'userId'>;

const byPerson = (all: SlackTelling[]): [Person, SlackTelling[]][] =>
  [...Map.groupBy(all, ({ app, teamId, userId }) => `${app} ${teamId} ${userId}`).values()].map((told) => [
    told[0]!,
    told,
  ]);

const settle = async (
  { db }: Deps,
  told: SlackTelling[],
  data: { beganAt: Date } | { endedAt: Date },
): Promise<void> => {
  const [{ app, teamId, userId }] = told as [SlackTelling];
  const freezeId = { in: told.map((each) => each.freezeId) };
  await db.slackTelling.updateMany({ where: { freezeId, app, teamId, userId }, data });
};

/** @throws NotNow while Slack limits or does not answer. What it refuses is given up. */
async function send(deps: Deps, { app: key, userId }: Person, text: string): Promise<void> {
  const app = await slackAppOf(deps, key);
  if (!app) return;
  try {
    await askSlack(deps, app.botToken, async (client) => {
      const { channel } = await client.conversations.open({ users: userId });
      await client.chat.postMessage({ channel: channel!.id!, text, unfurl_links: false });
    });
  } catch (error) {
    if (!(error instanceof SlackFailure)) throw error;
    if (error.kind !== 'refused')
      throw new NotNow(new Date(deps.clock.now() + Math.max(5, error.retryAfter ?? 0) * 1000));
    deps.log.warn({ reason: error.reason }, 'Slack took no direct message');
  }
}

export const tellAuthorsTask = defineTask(jobs.tellAuthors, (deps: Deps, { eventIds }) =>
  tellAuthors(deps, eventIds.map(BigInt)),
);
