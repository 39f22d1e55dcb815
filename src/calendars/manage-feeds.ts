// `calendars/` gives freezes to calendar apps, at secret addresses. Calendars that plans follow are in `plans/source/`.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { type Actor, actorIn } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Account, CalendarFeed as FeedRow } from '../generated/prisma/client.ts';
import { lockAccount } from '../installations/find-account.ts';
import { repositoriesOfOwner } from '../plans/matched-repositories.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';

/** A calendar of an owner's freezes that calendar apps subscribe to. */
export type CalendarFeed = {
  id: string;
  /** The names of its repositories; null: all of the owner. */
  repositories: string[] | null;
  publicText: boolean;
  createdAt: Date;
  createdBy: Actor;
};

/** A new calendar with its address, which is the only key to it and is not kept. */
type NewFeed = { feed: CalendarFeed; url: string };

/** The most calendars of an owner. */
const mostFeeds = 100;

/** Its form is known to the log, which hides it. */
const newToken = (): string => `hf_cal_${randomBytes(24).toString('base64url')}`;
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Where calendar apps read a calendar. */
const feedPath = (token: string): string => `/calendars/${token}.ics`;

/** The calendars of an owner, oldest first. */
export async function listFeeds({ db, sql }: Pick<FreezeDeps, 'db' | 'sql'>, account: Account) {
  const rows = await db.calendarFeed.findMany({
    where: { accountId: account.id },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const names = new Map((await repositoriesOfOwner(sql, account.id)).map(({ id, name }) => [id, name]));
  return rows.map((row) => feedOf(row, names));
}

function feedOf(row: FeedRow, names: Map<bigint, string>): CalendarFeed {
  const { id, repositoryIds, publicText, createdAt, createdBy } = row;
  const repositories =
    repositoryIds.length === 0 ? null : repositoryIds.flatMap((each) => names.get(each) ?? []);
  return { id, repositories, publicText, createdAt, createdBy: actorIn(createdBy) };
}

/** A calendar in the audit log and for clients, without its id. */
const attributesOfFeed = ({ repositories, publicText }: CalendarFeed) => ({
  repositories,
  public_text: publicText,
});

/**
 * Makes a calendar of an owner, or of some of its repositories, which stay in it when they are renamed.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal invalid for an unknown repository; conflict if the owner already has the most calendars.
 */
export async function createFeed(
  deps: Pick<FreezeDeps, 'db' | 'sql' | 'clock' | 'log' | 'config'>,
  actor: Actor,
  account: Account,
  wanted: { repositories: string[] | null; publicText: boolean },
  beforeAnswering: (tx: Tx, made: NewFeed) => Promise<void> = async () => {},
): Promise<NewFeed> {
  const now = nowOf(deps.clock);
  const chosen = wanted.repositories && (await repositoriesNamed(deps, account, wanted.repositories));
  const feed: CalendarFeed = {
    id: randomUUID(),
    repositories: chosen && chosen.map(({ name }) => name),
    publicText: wanted.publicText,
    createdAt: now,
    createdBy: actor,
  };
  const token = newToken();
  const made = { feed, url: deps.config.publicUrl + feedPath(token) };
  await deps.db.$transaction(async (tx) => {
    await lockAccount(tx, account.id);
    if ((await tx.calendarFeed.count({ where: { accountId: account.id } })) >= mostFeeds)
      throw conflict(
        `${account.login} has ${mostFeeds} calendars, the most there can be. Delete one first: GET /v1/calendars/${account.login} lists them.`,
      );
    await tx.calendarFeed.create({
      data: {
        id: feed.id,
        accountId: account.id,
        tokenHash: hashOf(token),
        repositoryIds: chosen?.map(({ id }) => id) ?? [],
        publicText: feed.publicText,
        createdAt: now,
        createdBy: actor,
      },
    });
    await appendEvent(tx, { accountId: account.id }, eventOf('calendar.create', feed), actor, now);
    await beforeAnswering(tx, made);
  });
  deps.log.info({ account: account.login, calendar: feed.id, by: actor.name }, 'calendar created');
  return made;
}

const eventOf = (type: 'calendar.create' | 'calendar.delete', feed: CalendarFeed) => ({
  type,
  metadata: { calendar_id: feed.id, calendar_attributes: attributesOfFeed(feed) },
});

async function repositoriesNamed({ sql }: Pick<FreezeDeps, 'sql'>, { id, login }: Account, names: string[]) {
  const all = new Map((await repositoriesOfOwner(sql, id)).map((each) => [each.name.toLowerCase(), each]));
  const problems = names.flatMap((name, index) =>
    all.has(name.toLowerCase())
      ? []
      : [
          {
            path: ['body', 'repositories', index],
            message: `${login} has no repository ${name} with Holdfast. Send names such as "web", without the owner.`,
            type: 'value_error',
          },
        ],
  );
  if (problems.length > 0) throw invalid(problems);
  return [...new Set(names.map((name) => all.get(name.toLowerCase())!))];
}

/**
 * Deletes a calendar. From now on its address leads nowhere.
 * @throws Refusal not-found if the owner has no such calendar.
 */
export async function deleteFeed(
  deps: Pick<FreezeDeps, 'db' | 'sql' | 'clock' | 'log'>,
  actor: Actor,
  account: Account,
  id: string,
): Promise<void> {
  const now = nowOf(deps.clock);
  const feed = (await listFeeds(deps, account)).find((each) => each.id === id.toLowerCase());
  const absent = notFound(`${account.login} has no calendar ${id}. List them to see which there are.`);
  if (!feed) throw absent;
  await deps.db.$transaction(async (tx) => {
    // Somebody else may be faster.
    if ((await tx.calendarFeed.deleteMany({ where: { id: feed.id } })).count === 0) throw absent;
    await appendEvent(tx, { accountId: account.id }, eventOf('calendar.delete', feed), actor, now);
  });
  deps.log.info({ account: account.login, calendar: feed.id, by: actor.name }, 'calendar deleted');
}

/** The calendar at an address, with its owner; null for a token that never was one, or no longer is. */
export const findFeed = ({ db }: Pick<FreezeDeps, 'db'>, token: string) =>
  db.calendarFeed.findUnique({
    where: { tokenHash: hashOf(token) },
    include: { account: { select: { id: true, login: true } } },
  });

export type FoundFeed = NonNullable<Awaited<ReturnType<typeof findFeed>>>;
