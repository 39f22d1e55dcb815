import { validate } from '../../api/read-request.ts';
import { givenReason } from '../../api/v1/exemption-schemas.ts';
import { conflict, isConflict, notFound } from '../../errors.ts';
import { actorName } from '../../events/actor.ts';
import { sharedEnds, whatIsBlocked } from '../../words/describe-fields.ts';
import { asPublic } from '../../freezes/freeze.ts';
import { asCode } from '../../github/markdown.ts';
import { type Administered, knownAccount } from '../../installations/find-account.ts';
import { assertWritable, fullName } from '../../installations/find-repository.ts';
import { ownerFormPath } from '../../page-paths.ts';
import type { PlanChanger } from '../../plans/change-plan.ts';
import { matchedBy, repositoriesOfOwner } from '../../plans/matched-repositories.ts';
import { endOngoing, extendOngoing, type Ongoing, ongoingIn } from '../../plans/ongoing.ts';
import { shownName } from '../../plans/plan-name.ts';
import { listPlans, type StoredPlan } from '../../plans/plan-store.ts';
import { nowOf } from '../../time/clock.ts';
import { parseDuration } from '../../time/duration.ts';
import { describeInstant } from '../../time/local-time.ts';
import { later } from '../../time/moment.ts';
import { readTaken } from '../comments/answer-store.ts';
import {
  authorizeFreezer,
  noteRequest,
  type Noted,
  type WindowPreview,
  selectionOf,
  type SlackOrder,
} from '../slack/slack-order.ts';
import { countWords, bulletList, plain } from '../../notices/slack/slack-words.ts';
import { warned } from '../slack/slack-text.ts';
import type { ChatTarget } from './command.ts';
import { readTimeWords } from './freeze-words.ts';
import { where, zoneOf } from './freeze.ts';
import { alsoBlocked, assertRole, type CommentOrder, type Order, type RunCommand } from './order.ts';

/** What is ongoing of what somebody may end or extend. */
export type Theirs = { ongoing: Ongoing[]; administered: Administered; place: string };

/** What is ongoing where a command says. @throws Refusal like `authorizeFreezer`; not-found for an unknown plan. */
async function ongoingOf(order: SlackOrder, target: ChatTarget): Promise<Theirs> {
  const { deps, account } = order;
  const plan = target.kind === 'plan' ? await planNamed(order, target.named) : null;
  const selection = plan ? plan.repositories : selectionOf(target);
  const { administered } = await authorizeFreezer(order, selection);
  const all = await repositoriesOfOwner(deps.sql, account.id);
  const ongoing = await ongoingIn(
    deps,
    account,
    matchedBy({ repositories: selection }, all).used,
    administered === null,
  );
  return {
    ongoing: plan ? ongoing.filter(({ value }) => value.endsWith(plan.id)) : ongoing,
    administered,
    place: plan ? nameOfPlan(plan) : where(account.login, selection),
  };
}

/** For everybody in the channel. */
export const nameOfPlan = (plan: StoredPlan): string => `the plan ${plain(shownName(plan, false))}`;

/** The plan with this name or public name, in any letter case, or id. @throws Refusal not-found; conflict if several have it. */
export async function planNamed({ deps, account }: SlackOrder, named: string): Promise<StoredPlan> {
  const plans = await listPlans(deps.db, account.id, nowOf(deps.clock));
  const key = named.toLowerCase();
  const namesOf = (plan: StoredPlan) => [plan.id, plan.name, shownName(plan, false)];
  const found = plans.filter((plan) => namesOf(plan).some((each) => each.toLowerCase() === key));
  if (found.length > 1)
    throw conflict(`${account.login} has several plans ${named}. Write the id of one, which its page shows.`);
  if (!found[0]) throw notFound(`${account.login} has no plan ${named} that you can change.`);
  return found[0];
}

/** For everybody in the channel. */
const whyOf = (freeze: Ongoing['freezes'][number]): string => plain(asPublic(freeze).reason) || 'a freeze';

export const describedInSlack = ({ freezes, repositories, plan }: Ongoing): string => {
  const [first] = freezes as [Ongoing['freezes'][number]];
  const until = sharedEnds(freezes.map(({ endsAt }) => endsAt))
    .map(
      ({ which, at }) => `${which}${at ? `until ${describeInstant(at, first.timezone)}` : 'until removed'}`,
    )
    .join(', ');
  const names =
    repositories.length > 3
      ? countWords(repositories.length, 'repository', 'repositories')
      : repositories.join(', ');
  const blocked = whatIsBlocked(first);
  return `${plain(names)}: ${whyOf(first)}, ${until}${plan ? ' (the entire plan)' : ''}${blocked === null ? '' : `. ${plain(blocked)}`}`;
};

const nothingOngoing = (place: string) => conflict(`No freezes are ongoing in ${place}.`);

/** Ends these, one after another, each in a transaction that notes it: a second try goes on where the first one stopped. */
async function endEach(
  { deps, actor, noteDone }: Order,
  of: Pick<PlanChanger, 'account' | 'administered'>,
  ongoing: Ongoing[],
  reason: string,
  textOf: (each: Ongoing) => string,
): Promise<void> {
  for (const each of ongoing)
    await endOngoing({ deps, actor, ...of }, each, reason, (tx) => noteDone(tx, textOf(each))).catch(
      (error: unknown) => {
        // Somebody changed it at the same moment; it is still ongoing.
        if (!isConflict(error)) throw error;
      },
    );
}

/** What would end. */
async function previewUnfreeze(order: SlackOrder): Promise<WindowPreview> {
  validate(givenReason, order.words, 'body');
  const { ongoing, place } = await ongoingOf(order, order.target!);
  if (ongoing.length === 0) throw nothingOngoing(place);
  const paragraphs = [`This ends in *${place}*:`, bulletList(ongoing.map(describedInSlack))];
  return {
    window: { title: 'Unfreeze', act: 'Unfreeze', paragraphs },
    noted: { shown: ongoing.map(({ value }) => value) },
  };
}

/** Ends what was shown and is still ongoing, and says what ended. */
export async function endThese(order: SlackOrder, { ongoing, administered, place }: Theirs): Promise<void> {
  const { deps, account, who, request, noted } = order;
  const reason = validate(givenReason, order.words, 'body');
  const shown = ongoing.filter(({ value }) => noted.shown?.includes(value));
  await endEach(order, { account, administered }, shown, reason, describedInSlack);
  const { noted: after } = await deps.db.slackRequest.findUniqueOrThrow({ where: { id: request.id } });
  const { done = [] } = (after ?? {}) as Noted;
  if (done.length === 0) throw nothingOngoing(place);
  // A plan notes itself once; single freezes of a plan once each.
  const ended = bulletList([...new Set(done)]);
  await order.saveAnswer(deps.db, `${who} ended in *${place}*: ${plain(reason)}\n${ended}`);
}

/** Until when each of these would last. */
async function previewExtend(order: SlackOrder): Promise<WindowPreview> {
  const { ongoing, place } = await ongoingOf(order, order.target!);
  const ends = await newEnds(order, ongoing, place);
  const lines = ongoing.flatMap((each) => {
    const end = ends[ongoingKeyOf(each)];
    if (!end) return [];
    return `${describedInSlack(each)} → until *${describeInstant(new Date(end), each.freezes[0]!.timezone)}*`;
  });
  const paragraphs = [`This extends in *${place}*:`, bulletList(lines)];
  return { window: { title: 'Extend', act: 'Extend', paragraphs }, noted: { ends } };
}

const ongoingKeyOf = ({ value }: Ongoing): string => value;

/** The new ends, as instants. @throws Refusal conflict if nothing can be extended; DoubtfulTime. */
async function newEnds(
  { deps, account, words, begun }: SlackOrder,
  ongoing: Ongoing[],
  place: string,
): Promise<Record<string, string>> {
  if (ongoing.length === 0) throw nothingOngoing(place);
  const duration = parseDuration(words.replace(/^(?:by|for) /i, ''));
  const zone = await zoneOf(deps, account.id, null);
  const fixed = duration ? null : readTimeWords(words, { now: begun.receivedAt.getTime(), zone });
  const ends = ongoing.flatMap((each): [string, string][] => {
    const [{ endsAt, timezone }] = each.freezes as [Ongoing['freezes'][number]];
    if (endsAt === null) return [];
    const at = fixed ? fixed.end.at : later(endsAt.getTime(), duration!, { zone: timezone, ways }).at;
    return at > endsAt.getTime() ? [[ongoingKeyOf(each), new Date(at).toISOString()]] : [];
  });
  if (ends.length === 0)
    throw conflict(
      `Nothing in ${place} would last longer: a freeze without an end lasts until it is removed.`,
    );
  return Object.fromEntries(ends);
}

const ways = { utc: 'name the zone UTC after it', length: (text: string) => text };

const byButton = 3_600_000;

/** Extends by an hour what a button is about. Notes the new ends first: a second try extends no further. */
export async function extendByHour(order: SlackOrder, theirs: Theirs): Promise<void> {
  const { deps, request } = order;
  const ends = Object.fromEntries(
    theirs.ongoing.flatMap((each) => {
      const { endsAt } = each.freezes[0]!;
      return endsAt ? [[ongoingKeyOf(each), new Date(endsAt.getTime() + byButton).toISOString()]] : [];
    }),
  );
  if (theirs.ongoing.length === 0) throw nothingOngoing(theirs.place);
  if (Object.keys(ends).length === 0)
    throw conflict('This freeze has no end: it lasts until somebody removes it.');
  if (!order.noted.ends) {
    order.noted = { ends };
    await noteRequest(deps.db, request, order.noted);
  }
  await extendThese(order, theirs);
}

/** Sets the noted ends. The same end again changes nothing. */
async function extendThese(order: SlackOrder, { ongoing, administered, place }: Theirs): Promise<void> {
  const { deps, who, noted } = order;
  const lines: string[] = [];
  const warnings: string[] = [];
  for (const each of ongoing) {
    const end = noted.ends?.[ongoingKeyOf(each)];
    if (!end) continue;
    const at = new Date(end);
    const [first] = each.freezes as [Ongoing['freezes'][number]];
    warnings.push(...(await extendOngoing({ ...order, administered }, each, at)));
    lines.push(
      `${plain(each.repositories.join(', '))}: ${whyOf(first)}, until *${describeInstant(at, first.timezone)}*`,
    );
  }
  if (lines.length === 0) throw nothingOngoing(place);
  const text = [`${who} extended in *${place}*:`, bulletList(lines), ...warned(warnings)].join('\n');
  await order.saveAnswer(deps.db, text);
}

/**
 * Ends the ongoing freezes of the repository that began when they were created, and plans for this repository alone. It
 * does not end plans of several repositories, plans that repeat, or freezes that somebody else scheduled. Each freeze
 * ends in its own transaction, which notes that, so that a second try continues where the first one stopped.
 */
const unfreezeInComment: RunCommand = async (order) => {
  await assertRole(order, 'freezer');
  const { deps, commentId, repository, words } = order;
  const reason = validate(givenReason, words, 'body');
  const account = (await knownAccount(deps, repository.account.login))!;
  const administered = new Set([repository.name.toLowerCase()]);
  assertWritable(repository);
  const ending = (await ongoingIn(deps, account, [repository], false)).filter(
    (each) => whyLeft(order, each) === null,
  );
  await endEach(order, { account, administered }, ending, reason, describedInComment);
  const { done } = await readTaken(deps.db, commentId);
  return textOfEnded(order, done, await ongoingIn(deps, account, [repository], false));
};

/** Why a comment does not end it; null if it does. */
function whyLeft({ actor }: CommentOrder, { plan, freezes }: Ongoing): string | null {
  const [{ planId, startsAt, createdAt, createdBy }] = freezes as [Ongoing['freezes'][number]];
  if (planId !== undefined && planId !== null && plan === null)
    return 'it belongs to a plan that repeats or has other repositories';
  const isOwn = createdBy.type === 'user' && createdBy.id === actor.id;
  return startsAt > createdAt && !isOwn ? `${asCode(actorName(createdBy))} scheduled it` : null;
}

/** Described for everybody who can read the repository. */
function describedInComment({ freezes }: Ongoing): string {
  const [freeze] = freezes as [Ongoing['freezes'][number]];
  const until = freeze.endsAt ? `until ${describeInstant(freeze.endsAt, freeze.timezone)}` : 'until removed';
  return `${asCode(asPublic(freeze).reason) || 'A freeze'}, ${until}${alsoBlocked(freeze)}`;
}

const changedMeanwhile = 'somebody changed it at the same moment';

function textOfEnded(order: CommentOrder, done: string[], left: Ongoing[]): string {
  const { deps, repository } = order;
  const name = asCode(fullName(repository));
  const form = ownerFormPath(repository.account.login, 'unfreeze');
  const page = `${deps.config.publicUrl}${form}?${new URLSearchParams({ repository: repository.name })}`;
  const ended = done.map((each) => `- ${each}`);
  const stays = left.map(
    (each) => `- ${describedInComment(each)}: ${whyLeft(order, each) ?? changedMeanwhile}`,
  );
  return [
    ...(done.length > 0 ? [`**Ended** in ${name}:`, ended.join('\n')] : []),
    ...(left.length > 0
      ? [
          `**Still ongoing** in ${name}. To end these freezes, use the [Unfreeze page](${page}):`,
          stays.join('\n'),
        ]
      : []),
    ...(done.length + left.length === 0 ? [`No freezes are ongoing in ${name}.`] : []),
  ].join('\n\n');
}

export const unfreeze = {
  comment: unfreezeInComment,
  preview: previewUnfreeze,
  carryOut: async (order: SlackOrder) => endThese(order, await ongoingOf(order, order.target!)),
};

export const extend = {
  preview: previewExtend,
  /** Extends what the window showed. */
  carryOut: async (order: SlackOrder) => extendThese(order, await ongoingOf(order, order.target!)),
};
