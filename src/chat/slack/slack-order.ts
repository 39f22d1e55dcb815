import { authorizeOwnerOr, type AuthorizedOwner, type Selection } from '../../auth/authorize-owner-or.ts';
import {
  authorizeRepository,
  type AuthorizedRepository,
  type RepositoryAudience,
} from '../../auth/authorize.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { conflict, forbidden, notFound } from '../../errors.ts';
import { Prisma, type SlackLink, type SlackRequest } from '../../generated/prisma/client.ts';
import { askGitHub } from '../../github/ask-github.ts';
import { isGitHubStatus } from '../../github/github-error.ts';
import { type InstalledAccount, knownAccount, notInstalled } from '../../installations/find-account.ts';
import type { SlackApp } from '../../notices/slack/slack-apps.ts';
import { saveLogin } from '../../notices/slack/slack-links.ts';
import type { SlackMessage } from '../../notices/slack/slack-client.ts';
import type { ChatTarget } from '../commands/command.ts';
import { AnsweredMeanwhile, type Order } from '../commands/order.ts';
import type { SlackWindow } from './slack-text.ts';

/** An answer in Slack. @property isPublic whether the channel sees it, or only who asked. */
export type Reply = SlackMessage & { isPublic: boolean };

/** What was decided when the window was shown or the button was read. A second try, and what follows, go on with it. */
export type Noted = {
  /** What the window showed as ending, by `Ongoing.value`. */
  shown?: string[];
  /** New ends, as instants by the id of a freeze or plan. */
  ends?: Record<string, string>;
  exemptionId?: string;
  headSha?: string | null;
  /** What was ended so far, each noted in the transaction that ended it. */
  done?: string[];
};

/** A request of Slack, by somebody who linked their account, about an owner. */
export type SlackOrder = Order & {
  app: SlackApp;
  account: InstalledAccount;
  /** What GitHub lets them do is asked for each order. */
  caller: Extract<Caller, { kind: 'slack' }>;
  /** As a channel reads it. */
  who: string;
  /** The command or button that began it. */
  begun: SlackRequest;
  /** What is answered: the same, or the sent window that belongs to it. */
  request: SlackRequest;
  noted: Noted;
  target: ChatTarget | null;
};

/** What a window says before anything changes, and what to note with it. */
export type WindowPreview = { window: SlackWindow; noted?: Noted };

/** Saves an answer. @throws AnsweredMeanwhile if there is one. */
export async function saveReply(tx: Tx, id: string, reply: Reply): Promise<void> {
  const where = { id, answer: { equals: Prisma.AnyNull } };
  const { count } = await tx.slackRequest.updateMany({ where, data: { answer: reply } });
  if (count === 0) throw new AnsweredMeanwhile();
}

/** Notes something with a request. */
export async function noteRequest(tx: Tx, { id }: SlackRequest, noted: Noted): Promise<void> {
  await tx.slackRequest.update({ where: { id }, data: { noted } });
}

/** Notes in a transaction what it ends. @throws AnsweredMeanwhile if the request is answered already. */
export async function noteDone(tx: Tx, { id }: SlackRequest, what: string): Promise<void> {
  const count = await tx.$executeRaw`
    UPDATE slack_requests
    SET noted = jsonb_set(coalesce(noted, '{}'), '{done}', coalesce(noted->'done', '[]') || to_jsonb(${what}::text))
    WHERE id = ${id} AND answer IS NULL`;
  if (count === 0) throw new AnsweredMeanwhile();
}

/**
 * The owner that a request is about. An app of one owner changes nothing of another: whoever has its secret could speak
 * in anybody's name.
 * @throws Refusal not-found, forbidden; conflict if the owner is missing.
 */
export async function ownerOfOrder(
  deps: Deps,
  app: SlackApp,
  named: string | null,
): Promise<InstalledAccount> {
  if (app.accountId !== null) {
    const own = await deps.db.account.findUniqueOrThrow({
      where: { id: app.accountId },
      include: { installations: { where: { deletedAt: null }, take: 1, orderBy: { id: 'desc' } } },
    });
    const { installations, ...account } = own;
    if (named !== null && named.toLowerCase() !== own.loginKey)
      throw forbidden(`This Slack app belongs to ${own.login}. It cannot change anything of ${named}.`);
    if (!installations[0]) throw notInstalled(own.login);
    return { ...account, installation: installations[0] };
  }
  if (named !== null) {
    const account = await knownAccount(deps, named);
    if (!account) throw notInstalled(named);
    return account;
  }
  const installations = await deps.db.installation.findMany({
    where: { deletedAt: null },
    include: { account: true },
    take: 2,
  });
  const [only, another] = installations;
  if (!only) throw notFound('Holdfast is not installed on any owner.');
  if (another)
    throw conflict('Write the owner too, such as acme/web or acme/*: several owners use Holdfast.');
  const { account, ...installation } = only;
  return { ...account, installation };
}

/** The person of a link with their login of today. @throws Refusal forbidden if GitHub does not have them any more. */
export async function personOf(
  deps: Deps,
  { installation }: InstalledAccount,
  link: SlackLink,
): Promise<{ id: number; login: string }> {
  const id = Number(link.personId);
  if (installation.suspendedAt) return { id, login: link.login };
  const ask = async () => {
    const { request } = await deps.github.asInstallation(installation.id);
    try {
      const { data } = await request('GET /user/{account_id}', { account_id: id });
      return (data as { login: string }).login;
    } catch (error) {
      if (isGitHubStatus(error, 404)) return null;
      throw error;
    }
  };
  // The command may end a freeze.
  const login = await askGitHub(deps, installation.id, 'which login a person has', ask, 'counted');
  if (login === null)
    throw forbidden(
      'GitHub does not know your account any more. Write /holdfast unlink, then link another one.',
    );
  if (login !== link.login) await saveLogin(deps, link, login);
  return { id, login };
}

/**
 * Asks GitHub now whether the person may freeze these repositories.
 * @param isUrgent for commands that freeze; others end freezes. @throws Refusal like `authorizeOwnerOr`.
 */
export const authorizeFreezer = (
  { deps, caller, account }: SlackOrder,
  selection: Selection,
  isUrgent = false,
): Promise<AuthorizedOwner> =>
  authorizeOwnerOr(
    deps,
    caller,
    account.login,
    'change',
    { isLive: true, isUrgent, releases: !isUrgent },
    async () => ({ all: selection }),
  );

/** Asks GitHub now what the person may do in a repository. @throws Refusal like `authorizeRepository`. */
export async function authorizeIn(
  { deps, caller, account }: SlackOrder,
  repository: string,
  allows: Pick<RepositoryAudience, 'least' | 'role'>,
): Promise<AuthorizedRepository> {
  const path = { owner: account.login, repository };
  const audience = { scope: 'admin', isLive: true, releases: allows.role !== undefined, ...allows } as const;
  const found = await authorizeRepository(deps, caller, audience, path);
  // After a rename or a transfer, GitHub can answer with a repository of somebody else.
  if (found.repository.accountId !== account.id)
    throw notFound(`${account.login} has no repository ${repository}.`);
  return found;
}

/** The repositories that a target names. */
export function selectionOf(target: ChatTarget): Selection {
  switch (target.kind) {
    case 'all':
      return { include: ['*'], exclude: [] };
    case 'repositories':
      return { include: target.globs, exclude: [] };
    case 'pull-request':
      return { include: [target.repository], exclude: [] };
    case 'plan':
      throw new TypeError('a plan says itself what it selects');
  }
}
