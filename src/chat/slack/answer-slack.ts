// A request of Slack is carried out once and answered, even if processes die in between:
//  1. `acceptRequest` saved it with the job that runs this, before Slack got its answer.
//  2. An account that is not linked gets a link to our sign-in, for itself alone, and nothing else happens.
//  3. A command that changes something opens a window that shows what would happen. Sending the window is a request of
//     its own, and makes the change.
//  4. We ask GitHub at that moment what the person may do, as pages and comments do. Slack's word counts for nothing.
//  5. The change is made by a use case of the API, which saves the answer in its transaction.
import { within } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { isTooManyRequests, isUnavailable } from '../../errors.ts';
import type { SlackLink, SlackRequest } from '../../generated/prisma/client.ts';
import { type SlackApp, slackAppOf } from '../../notices/slack/slack-apps.ts';
import { askSlack, SlackFailure } from '../../notices/slack/slack-client.ts';
import { findLink, offerLink } from '../../notices/slack/slack-links.ts';
import { defineTask } from '../../database/queue/define-task.ts';
import { jobs } from '../../database/queue/jobs.ts';
import { defineLane } from '../../outside/work-lane.ts';
import { actorOf } from '../../auth/caller.ts';
import { readSlackCommand, type SlackVerb } from '../commands/command.ts';
import { approve, deny, exempt } from '../commands/exemptions.ts';
import { freeze } from '../commands/freeze.ts';
import { extend, unfreeze } from '../commands/ongoing.ts';
import { AnsweredMeanwhile, whyOrderRefused } from '../commands/order.ts';
import { showStatus } from '../commands/show-status.ts';
import { changePerson, subscribe, unsubscribe } from './about-slack.ts';
import { carryOutButton, ownerOfButton, windowsOfButtons } from './buttons.ts';
import type { SlackInput } from './receive-slack.ts';
import { replyTo, settleRequest } from './reply.ts';
import {
  noteRequest,
  noteDone,
  type Noted,
  ownerOfOrder,
  personOf,
  type WindowPreview,
  type Reply,
  saveReply,
  type SlackOrder,
} from './slack-order.ts';
import { plain } from '../../notices/slack/slack-words.ts';
import { looking, nothingChanged, viewOf, type SlackWindow } from './slack-text.ts';

/** A command that changes something: what its window shows, and what sending that does. */
type Change = {
  preview(order: SlackOrder): Promise<WindowPreview>;
  carryOut(order: SlackOrder): Promise<void>;
};

const changes: Partial<Record<SlackVerb, Change>> = { freeze, extend, unfreeze, exempt, approve, deny };

/** A command without a window. @returns what only the person sees; nothing if the answer is saved. */
const answers: Partial<Record<SlackVerb, (order: SlackOrder) => Promise<string | undefined>>> = {
  status: showStatus,
  subscribe,
  unsubscribe,
};

type Content = SlackInput & { userName: string; teamName: string };

/** After this many milliseconds, the person may no longer want it. */
const longestRequestDelay = 10 * 60_000;

/**
 * Carries out a request of Slack.
 * @returns its answer; null if there is none to send.
 * @throws NotNow while GitHub does not answer. The worker tries again.
 */
async function answerSlack(deps: Deps, id: string, turn: bigint): Promise<ReturnType<typeof replyTo> | null> {
  const request = await deps.db.slackRequest.findUnique({ where: { id } });
  if (!request || request.isSettled) return null;
  const app = await slackAppOf(deps, request.app);
  const reply = app && ((request.answer as Reply | null) ?? (await obey(deps, app, request)));
  if (reply) return replyTo(deps, app, request, await begunRequest(deps, request), reply, turn);
  await settleRequest(deps.sql, id, turn);
  return null;
}

/** @returns what to answer; null if there is nothing to say, because a window says it. */
async function obey(deps: Deps, app: SlackApp, request: SlackRequest): Promise<Reply | null> {
  const asked = request.asked as Content;
  const link = await findLink(deps, request);
  if (!link) return toSignIn(deps, request, asked);
  const isLate = deps.clock.now() - request.receivedAt.getTime() > longestRequestDelay;
  if (isLate && !(request.noted as Noted | null)?.done)
    return privately(
      nothingChanged(
        'Holdfast read this more than 10 minutes after you sent it. If you still want it, send it again.',
      ),
    );
  try {
    return await carryOut({ deps, app, request, asked, link });
  } catch (error) {
    if (error instanceof AnsweredMeanwhile) return savedReply(deps, request);
    return privately(nothingChanged(whyOrderRefused(deps, error)));
  }
}

async function savedReply(deps: Deps, { id }: SlackRequest): Promise<Reply | null> {
  return (await deps.db.slackRequest.findUniqueOrThrow({ where: { id } })).answer as Reply | null;
}

const privately = (text: string): Reply => ({ text, isPublic: false });

async function toSignIn(deps: Deps, request: SlackRequest, { userName, teamName }: Content): Promise<Reply> {
  const path = await offerLink(deps, request, { userName, teamName });
  return privately(
    `Holdfast does not know who you are on GitHub. <${deps.config.publicUrl}${path}|Sign in with GitHub> to link your account, then send this again. The link works once, for 15 minutes, and is for you alone. Nothing was changed.`,
  );
}

/** What a linked person sent. @property begun the command or button that began it: a sent window belongs to one. */
type Asked = {
  deps: Deps;
  app: SlackApp;
  request: SlackRequest;
  asked: Content;
  link: SlackLink;
  begun: SlackRequest;
};

/** @returns what to answer at once; null if the answer is saved or in a window. */
async function carryOut(linked: Omit<Asked, 'begun'>): Promise<Reply | null> {
  const { deps, request, asked } = linked;
  const begun = asked.kind === 'window' ? await begunBy(deps, request, asked.of) : request;
  if (!begun)
    return privately(nothingChanged('Holdfast no longer knows this window. Write the command again.'));
  const all = { ...linked, begun };
  const first = begun.asked as Content;
  if (first.kind === 'button') return carryOutPressed(all, first);
  return first.kind === 'command' ? carryOutWritten(all, first.text) : null;
}

/** A button of a message, which may ask for a reason in a window first. */
async function carryOutPressed(
  all: Asked,
  button: Extract<SlackInput, { kind: 'button' }>,
): Promise<Reply | null> {
  const { deps, app, request, asked } = all;
  const owner = await ownerOfButton(deps, button);
  if (owner === null) return privately(nothingChanged('What this button is about is gone.'));
  const window = windowsOfButtons[button.button];
  if (window && asked.kind === 'button')
    return open(deps, app, request, asked.triggerId, async () => ({ window }));
  const reason = asked.kind === 'window' ? asked.reason : null;
  await carryOutButton(await slackOrderOf(all, owner, null, reason ?? ''), button);
  return savedReply(deps, request);
}

/** A command. One that changes something opens a window first, and sending that makes the change. */
async function carryOutWritten(all: Asked, text: string): Promise<Reply | null> {
  const { deps, app, request, asked } = all;
  const command = readSlackCommand(text);
  if (!command) return null;
  const { verb, target, words } = command;
  if (verb === 'notify' || verb === 'unlink')
    return privately(await changePerson(deps, request, verb, words));
  const getOrder = () => slackOrderOf(all, ownerIn(app, verb, target, words), target, words);
  const change = changes[verb];
  if (!change) {
    const said = await answers[verb]!(await getOrder());
    return typeof said === 'string' ? privately(said) : savedReply(deps, request);
  }
  if (asked.kind === 'command')
    return open(deps, app, request, asked.triggerId, async () => change.preview(await getOrder()));
  await change.carryOut(await getOrder());
  return savedReply(deps, request);
}

async function slackOrderOf(
  { deps, app, request, link, begun }: Asked,
  owner: string | null,
  target: SlackOrder['target'],
  words: string,
): Promise<SlackOrder> {
  const account = await ownerOfOrder(deps, app, owner);
  const person = await personOf(deps, account, link);
  const slackApp = app.accountId === null ? 'service' : 'owner';
  const via = { slack_team_id: request.teamId, slack_app: slackApp } as const;
  const caller = { kind: 'slack', person, via } as const;
  return {
    ...{ deps, app, account, caller, actor: actorOf(deps, caller), begun, request, target, words },
    noted: { ...(begun.noted as Noted | null), ...(request.noted as Noted | null) },
    who: `<@${request.userId}> (${plain(person.login)} on GitHub)`,
    saveAnswer: (tx, text) => saveReply(tx, request.id, { text, isPublic: true }),
    noteDone: (tx, what) => noteDone(tx, request, what),
  };
}

/** The owner that a command names; null if it names none. An app of one owner needs none. */
function ownerIn(
  { accountId }: SlackApp,
  verb: SlackVerb,
  target: SlackOrder['target'],
  words: string,
): string | null {
  if (verb !== 'subscribe' && verb !== 'unsubscribe') return target?.owner ?? null;
  return accountId === null ? (/^[a-z\d][\w-]*(?=\s|$)/i.exec(words)?.[0] ?? null) : null;
}

/** The request that a window belongs to, if the same person began it. */
async function begunBy(
  { db }: Deps,
  { app, teamId, userId }: SlackRequest,
  id: string,
): Promise<SlackRequest | null> {
  return db.slackRequest.findFirst({ where: { id, app, teamId, userId } });
}

/** Milliseconds of the 3 s in which Slack opens a window that we use to fill it. */
const soon = 1_500;

/**
 * Opens the window of a command with what would happen, or answers why it cannot. If GitHub takes long, the window opens
 * first, and is filled later.
 */
async function open(
  deps: Deps,
  app: SlackApp,
  request: SlackRequest,
  triggerId: string,
  look: () => Promise<WindowPreview>,
): Promise<Reply | null> {
  const seen = look().catch((error: unknown) => {
    if (isUnavailable(error) || isTooManyRequests(error)) return nothingChanged(error.message);
    return nothingChanged(whyOrderRefused(deps, error));
  });
  const first = await within(soon, seen);
  if (typeof first === 'string') return privately(first);
  if (first) await noteWith(deps, request, first);
  const viewId = await openView(deps, app, triggerId, viewOf(request.id, first?.window ?? looking));
  if (viewId === null)
    return privately(nothingChanged('Slack did not open the window in time. Write the command again.'));
  if (first) return null;
  const last = await seen;
  if (typeof last !== 'string') await noteWith(deps, request, last);
  const window: SlackWindow =
    typeof last === 'string' ? { title: 'Holdfast', paragraphs: [last] } : last.window;
  const view = viewOf(request.id, window) as never;
  // Somebody may have closed it.
  await askSlack(deps, app.botToken, (client) => client.views.update({ view_id: viewId, view })).catch(
    unlessRefused,
  );
  return null;
}

const noteWith = async (deps: Deps, request: SlackRequest, { noted }: WindowPreview): Promise<void> => {
  if (noted) await noteRequest(deps.db, request, noted);
};

/** @returns the id of the window; null if Slack does not open it any more. */
async function openView(deps: Deps, app: SlackApp, triggerId: string, view: object): Promise<string | null> {
  const opened = await askSlack(deps, app.botToken, (client) =>
    client.views.open({ trigger_id: triggerId, view: view as never }),
  ).catch(unlessRefused);
  return opened?.view?.id ?? null;
}

function unlessRefused(error: unknown): null {
  if (error instanceof SlackFailure && error.kind === 'refused') return null;
  throw error;
}

/** The request with the address for answers: for a sent window, the command or button that opened it. */
async function begunRequest(deps: Deps, request: SlackRequest): Promise<SlackRequest> {
  const asked = request.asked as Content;
  return (asked.kind === 'window' && (await begunBy(deps, request, asked.of))) || request;
}

export const replyInSlackTask = defineLane(jobs.replyInSlack, (deps: Deps, { requestId }, turn) =>
  answerSlack(deps, requestId, turn),
);

export const answerSlackTask = defineTask(jobs.answerSlack, (deps: Deps, { requestId }) =>
  deps.queue.send([jobs.replyInSlack(requestId)]),
);
