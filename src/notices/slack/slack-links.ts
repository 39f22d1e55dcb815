import { createHash, randomBytes } from 'node:crypto';
import { nowOf } from '../../time/clock.ts';
import { slackAccountsPath } from '../../page-paths.ts';
import type { SlackLink, SlackOffer } from '../../generated/prisma/client.ts';
import type { Ground } from '../../database/ground.ts';
import { day } from '../../time/units.ts';

// Who somebody in Slack is at GitHub. Slack's word is not enough: the person proves it by signing in with GitHub.

/** A person of a workspace, as one Slack app sees them. */
type SlackUser = { app: string; teamId: string; userId: string };

type Store = Pick<Ground, 'db' | 'clock'>;
/** Somebody who is signed in. */
type Person = { id: number; login: string };

/** Milliseconds that a link to sign in lasts. */
const offerLasts = 15 * 60_000;

/** The token has 256 random bits, so it needs no salt or stretching. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Who a person of Slack is at GitHub; null if they did not link their accounts. */
export const findLink = ({ db }: Pick<Ground, 'db'>, user: SlackUser): Promise<SlackLink | null> =>
  db.slackLink.findUnique({ where: { app_teamId_userId: pick(user) } });

const pick = ({ app, teamId, userId }: SlackUser): SlackUser => ({ app, teamId, userId });

/**
 * Offers a person of Slack to link their account. Ends their earlier offers.
 * @param names how Slack names the person and the workspace.
 * @returns the path of the page, which nobody else must get.
 */
export async function offerLink(
  { db, clock }: Store,
  user: SlackUser,
  names: { userName: string; teamName: string },
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(clock.now() + offerLasts);
  await db.$transaction([
    db.slackOffer.deleteMany({ where: pick(user) }),
    db.slackOffer.create({ data: { tokenHash: hashOf(token), ...pick(user), ...names, expiresAt } }),
  ]);
  return `${slackAccountsPath}?${new URLSearchParams({ token })}`;
}

/** The accounts that a person of GitHub linked, the newest first. */
export const linksOf = ({ db }: Pick<Ground, 'db'>, { id }: Pick<Person, 'id'>): Promise<SlackLink[]> =>
  db.slackLink.findMany({ where: { personId: BigInt(id) }, orderBy: { linkedAt: 'desc' } });

/** The offer with this token; null if it is over or was used. */
export async function findOffer({ db, clock }: Store, token: string): Promise<SlackOffer | null> {
  const offer = await db.slackOffer.findUnique({ where: { tokenHash: hashOf(token) } });
  return offer && offer.expiresAt > nowOf(clock) ? offer : null;
}

/** Links the accounts, and uses the offer up. @returns false if it is over or was used. */
export const acceptOffer = ({ db, clock }: Store, token: string, person: Person): Promise<boolean> =>
  db.$transaction(async (tx) => {
    const now = nowOf(clock);
    const [offer] = await tx.$queryRaw<(SlackUser & { userName: string; teamName: string })[]>`
      DELETE FROM slack_offers WHERE token_hash = ${hashOf(token)} AND expires_at > ${now}
      RETURNING app, team_id AS "teamId", user_id AS "userId", user_name AS "userName", team_name AS "teamName"`;
    if (!offer) return false;
    const { userName, teamName } = offer;
    const data = { personId: BigInt(person.id), login: person.login, userName, teamName, linkedAt: now };
    await tx.slackLink.upsert({
      where: { app_teamId_userId: pick(offer) },
      create: { ...pick(offer), ...data },
      update: data,
    });
    return true;
  });

/** Ends the link of a person of Slack. @returns whether there was one. */
export const unlink = async ({ db }: Pick<Ground, 'db'>, user: SlackUser): Promise<boolean> =>
  (await db.slackLink.deleteMany({ where: pick(user) })).count > 0;

/** Keeps the login of today. */
export async function saveLogin({ db }: Pick<Ground, 'db'>, user: SlackUser, login: string): Promise<void> {
  await db.slackLink.updateMany({ where: pick(user), data: { login } });
}

/** Saves whether a person wants direct messages. */
export async function setWantsMessages(
  { db }: Pick<Ground, 'db'>,
  user: SlackUser,
  wantsMessages: boolean,
): Promise<void> {
  await db.slackLink.updateMany({ where: pick(user), data: { wantsMessages } });
}

/** Deletes offers that are over and requests that nobody sends again. Called by the sweep. */
export async function forgetOldSlack({ db, clock }: Store): Promise<void> {
  const now = nowOf(clock);
  await db.slackOffer.deleteMany({ where: { expiresAt: { lte: now } } });
  await db.slackTelling.deleteMany({ where: { createdAt: { lt: new Date(now.getTime() - tellingsKept) } } });
  await db.slackRequest.deleteMany({ where: { receivedAt: { lt: new Date(now.getTime() - day) } } });
}

/** Longer than nearly every freeze: nobody is told of the end of one that lasts longer. */
const tellingsKept = 90 * day;
