import { validate } from '../../../api/read-request.ts';
import { givenReason } from '../../../api/v1/exemption-schemas.ts';
import { nowOf } from '../../../time/clock.ts';
import { conflict, isConflict, notFound } from '../../../errors.ts';
import { whatIsBlocked } from '../../../events/describe-fields.ts';
import { asPublic } from '../../../freezes/freeze.ts';
import { planChange, updateFreeze } from '../../../freezes/update-freeze.ts';
import type { Administered } from '../../../installations/find-account.ts';
import { repositoriesOfIds } from '../../../installations/find-repository.ts';
import { matchedBy, repositoriesOfOwner } from '../../../plans/matched-repositories.ts';
import { endOngoing, type Ongoing, ongoingIn } from '../../../plans/ongoing.ts';
import { listPlans, type StoredPlan } from '../../../plans/plan-store.ts';
import { updatePlan } from '../../../plans/update-plan.ts';
import { parseDuration } from '../../../time/duration.ts';
import { describeInstant, toLocalTime } from '../../../time/local-time.ts';
import { later } from '../../../time/moment.ts';
import { readTimeWords } from '../../comments/freeze-words.ts';
import type { Target } from '../slack-command.ts';
import {
  authorizeFreezer,
  note,
  noteDone,
  type Noted,
  type Preview,
  selectionOf,
  type SlackOrder,
} from '../slack-order.ts';
import { count, list, plain } from '../slack-text.ts';
import { where, zoneOf } from './freeze.ts';

/** What is ongoing of what somebody may end or extend. */
export type Theirs = { ongoing: Ongoing[]; administered: Administered; place: string };

/** What is ongoing where a command says. @throws Refusal like `authorizeFreezer`; not-found for an unknown plan. */
async function ongoingOf(order: SlackOrder, target: Target): Promise<Theirs> {
  const { deps, account } = order;
  const plan = target.kind === 'plan' ? await planNamed(order, target.named) : null;
  const selection = plan ? plan.repositories : selectionOf(target);
  const { administered } = await authorizeFreezer(order, selection);
  const all = await repositoriesOfOwner(deps.sql, account.id);
  const ongoing = await ongoingIn(
    deps,
    account,
    matchedBy({ repositories: selection }, all),
    administered === null,
  );
  return {
    ongoing: plan ? ongoing.filter(({ value }) => value.endsWith(plan.id)) : ongoing,
    administered,
    place: plan ? `the plan ${plain(plan.name)}` : where(account.login, selection),
  };
}

/** The plan with this name, in any letter case, or id. @throws Refusal not-found; conflict if several have it. */
export async function planNamed({ deps, account }: SlackOrder, named: string): Promise<StoredPlan> {
  const plans = await listPlans(deps.db, account.id, nowOf(deps.clock));
  const key = named.toLowerCase();
  const found = plans.filter(({ id, name }) => id === key || name.toLowerCase() === key);
  if (found.length > 1)
    throw conflict(`${account.login} has several plans ${named}. Write the id of one, which its page shows.`);
  if (!found[0]) throw notFound(`${account.login} has no plan ${named} that you can change.`);
  return found[0];
}

/** For everybody in the channel. */
const whyOf = (freeze: Ongoing['freezes'][number]): string => plain(asPublic(freeze).reason) || 'a freeze';

export const described = ({ freezes, repositories, plan }: Ongoing): string => {
  const [first] = freezes as [Ongoing['freezes'][number]];
  const { endsAt, timezone } = first;
  const until = endsAt ? `until ${describeInstant(endsAt, timezone)}` : 'until removed';
  const names =
    repositories.length > 3
      ? count(repositories.length, 'repository', 'repositories')
      : repositories.join(', ');
  const blocked = whatIsBlocked(first);
  return `${plain(names)}: ${whyOf(first)}, ${until}${plan ? ' (the entire plan)' : ''}${blocked === null ? '' : `. ${plain(blocked)}`}`;
};

const nothingOngoing = (place: string) => conflict(`No freezes are ongoing in ${place}.`);

/** What would end. */
export async function previewUnfreeze(order: SlackOrder): Promise<Preview> {
  validate(givenReason, order.words, 'body');
  const { ongoing, place } = await ongoingOf(order, order.target!);
  return { ...endWindow(ongoing, place), noted: { shown: ongoing.map(({ value }) => value) } };
}

function endWindow(ongoing: Ongoing[], place: string): Preview {
  if (ongoing.length === 0) throw nothingOngoing(place);
  const paragraphs = [`This ends in *${place}*:`, list(ongoing.map(described))];
  return { window: { title: 'Unfreeze', act: 'Unfreeze', paragraphs } };
}

/** Ends what the window showed and is still ongoing. */
export async function unfreeze(order: SlackOrder): Promise<void> {
  await endThese(order, await ongoingOf(order, order.target!), order.words);
}

/** Ends what was shown, one after another, and says what ended. */
export async function endThese(
  order: SlackOrder,
  { ongoing, administered, place }: Theirs,
  words: string,
): Promise<void> {
  const { deps, actor, account, who, request, noted } = order;
  const reason = validate(givenReason, words, 'body');
  for (const each of ongoing) {
    if (!(noted.shown ?? []).includes(each.value)) continue;
    const end = endOngoing(deps, actor, { account, administered }, each, reason, (tx) =>
      noteDone(tx, request, described(each)),
    );
    await end.catch((error: unknown) => {
      // Somebody changed it at the same moment; it is still ongoing.
      if (!isConflict(error)) throw error;
    });
  }
  const { noted: after } = await deps.db.slackRequest.findUniqueOrThrow({ where: { id: request.id } });
  const { done = [] } = (after ?? {}) as Noted;
  if (done.length === 0) throw nothingOngoing(place);
  // A plan notes itself once; single freezes of a plan once each.
  const ended = list([...new Set(done)]);
  await order.saveAnswer(deps.db, `${who} ended in *${place}*: ${plain(reason)}\n${ended}`);
}

/** Until when each of these would last. */
export async function previewExtend(order: SlackOrder): Promise<Preview> {
  const { ongoing, place } = await ongoingOf(order, order.target!);
  const ends = await newEnds(order, ongoing, place);
  const lines = ongoing.flatMap((each) => {
    const end = ends[keyOf(each)];
    if (!end) return [];
    return `${described(each)} → until *${describeInstant(new Date(end), each.freezes[0]!.timezone)}*`;
  });
  const paragraphs = [`This extends in *${place}*:`, list(lines)];
  return { window: { title: 'Extend', act: 'Extend', paragraphs }, noted: { ends } };
}

const keyOf = ({ value }: Ongoing): string => value;

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
    return at > endsAt.getTime() ? [[keyOf(each), new Date(at).toISOString()]] : [];
  });
  if (ends.length === 0)
    throw conflict(
      `Nothing in ${place} would last longer: a freeze without an end lasts until it is removed.`,
    );
  return Object.fromEntries(ends);
}

const ways = { utc: 'name the zone UTC after it', length: (text: string) => text };

/** Extends what the window showed. */
export async function extend(order: SlackOrder): Promise<void> {
  await extendThese(order, await ongoingOf(order, order.target!));
}

const byButton = 3_600_000;

/** Extends by an hour what a button is about. Notes the new ends first: a second try extends no further. */
export async function extendByHour(order: SlackOrder, theirs: Theirs): Promise<void> {
  const { deps, request } = order;
  const ends = Object.fromEntries(
    theirs.ongoing.flatMap((each) => {
      const { endsAt } = each.freezes[0]!;
      return endsAt ? [[keyOf(each), new Date(endsAt.getTime() + byButton).toISOString()]] : [];
    }),
  );
  if (theirs.ongoing.length === 0) throw nothingOngoing(theirs.place);
  if (Object.keys(ends).length === 0)
    throw conflict('This freeze has no end: it lasts until somebody removes it.');
  if (!order.noted.ends) {
    order.noted = { ends };
    await note(deps.db, request, order.noted);
  }
  await extendThese(order, theirs);
}

/** Sets the noted ends. The same end again changes nothing. */
async function extendThese(order: SlackOrder, { ongoing, administered, place }: Theirs): Promise<void> {
  const { deps, actor, account, who, noted } = order;
  const lines: string[] = [];
  for (const each of ongoing) {
    const end = noted.ends?.[keyOf(each)];
    if (!end) continue;
    const at = new Date(end);
    const [first] = each.freezes as [Ongoing['freezes'][number]];
    if (each.plan) {
      const change = { end: toLocalTime(at, each.plan.timezone) };
      await updatePlan(deps, actor, account, administered, each.plan.id, change);
    } else {
      const repositories = await repositoriesOfIds(
        deps.sql,
        each.freezes.map(({ repositoryId }) => repositoryId),
      );
      for (const { id, repositoryId, timezone: own } of each.freezes) {
        const repository = repositories.find((one) => one.id === repositoryId)!;
        const planned = await planChange(deps, repository, id, { end: toLocalTime(at, own) });
        await updateFreeze(deps, actor, repository, planned);
      }
    }
    lines.push(
      `${plain(each.repositories.join(', '))}: ${whyOf(first)}, until *${describeInstant(at, first.timezone)}*`,
    );
  }
  if (lines.length === 0) throw nothingOngoing(place);
  await order.saveAnswer(deps.db, `${who} extended in *${place}*:\n${list(lines)}`);
}
