import * as z from 'zod';
import { sentUuid } from '../../api/fields.ts';
import { nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { repositoriesOfIds, type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { matchedRepositories } from '../../plans/matched-repositories.ts';
import { ongoingIn } from '../../plans/ongoing.ts';
import { findPlan } from '../../plans/plan-store.ts';
import { authorizeFreezer, authorizeIn, type SlackOrder } from './slack-order.ts';
import { decideInSlack } from '../commands/exemptions.ts';
import { endThese, extendByHour, nameOfPlan, type Theirs } from '../commands/ongoing.ts';
import type { SlackInput } from './receive-slack.ts';
import { plain } from '../../notices/slack/slack-words.ts';
import type { SlackWindow } from './slack-text.ts';

// The buttons below our messages. What they are about is in their value, which only we wrote: Slack signs what it sends.

type Pressed = Extract<SlackInput, { kind: 'button' }>;

const about = z.union([
  z.object({ exemption: sentUuid }),
  z.object({ freeze: sentUuid }),
  z.object({ plan: sentUuid }),
]);
type About = z.output<typeof about>;

/** What a button is about. @returns null if it is none of ours. */
function readValue({ value }: Pressed): About | null {
  try {
    return about.safeParse(JSON.parse(value)).data ?? null;
  } catch {
    return null;
  }
}

/** The login of the owner of what a button is about; null if it is gone. */
export async function ownerOfButton(deps: Deps, button: Pressed): Promise<string | null> {
  const found = readValue(button);
  if (!found) return null;
  if (!('plan' in found)) return (await repositoryOf(deps, found))?.account.login ?? null;
  const plan = await deps.db.freezePlan.findUnique({ where: { id: found.plan }, include: { account: true } });
  return plan?.account.login ?? null;
}

/** The repository of a freeze or an exemption; null if it is gone. */
async function repositoryOf(
  { db, sql }: Deps,
  found: { exemption: string } | { freeze: string },
): Promise<FoundRepository | null> {
  const select = { repositoryId: true };
  const row =
    'freeze' in found
      ? await db.freeze.findUnique({ where: { id: found.freeze }, select })
      : await db.exemption.findUnique({ where: { id: found.exemption }, select });
  return row && ((await repositoriesOfIds(sql, [row.repositoryId]))[0] ?? null);
}

/** The windows of the buttons that ask first. */
export const windowsOfButtons: Partial<Record<Pressed['button'], SlackWindow>> = {
  deny: {
    title: 'Deny the exemption',
    act: 'Deny',
    paragraphs: ['It stays blocked.'],
    reason: { label: 'Reason' },
  },
  end: {
    title: 'End the freeze',
    act: 'End',
    paragraphs: ['What it blocks can go on within seconds.'],
    reason: { label: 'Reason' },
  },
};

/** Does what a button says, if GitHub says that the person may. */
export async function carryOutButton(order: SlackOrder, pressed: Pressed): Promise<void> {
  const { deps } = order;
  const { button } = pressed;
  const found = readValue(pressed)!;
  if (button === 'approve' || button === 'deny') {
    const repository = 'exemption' in found && (await repositoryOf(deps, found));
    if (!repository) throw gone();
    return decideInSlack(order, repository.name, found.exemption, button);
  }
  const theirs = await theirsOf(order, found);
  if (button === 'extend') return extendByHour(order, theirs);
  order.noted = { ...order.noted, shown: theirs.ongoing.map(({ value }) => value) };
  return endThese(order, theirs);
}

const gone = () => notFound('What this button is about is gone.');

/** What is ongoing of the freeze or plan of a button. @throws Refusal like the authorization. */
async function theirsOf(order: SlackOrder, found: About): Promise<Theirs> {
  const { deps, account } = order;
  if ('plan' in found) {
    const plan = await findPlan(deps.db, { id: found.plan, accountId: account.id }, nowOf(deps.clock));
    if (!plan) throw gone();
    const { administered } = await authorizeFreezer(order, plan.repositories);
    const all = await ongoingIn(
      deps,
      account,
      (await matchedRepositories(deps.sql, plan)).used,
      administered === null,
    );
    const ongoing = all.filter(({ value }) => value.endsWith(plan.id));
    return { ongoing, administered, place: nameOfPlan(plan) };
  }
  if (!('freeze' in found)) throw gone();
  const named = await repositoryOf(deps, found);
  if (!named) throw gone();
  const { repository } = await authorizeIn(order, named.name, { role: 'freezer' });
  const administered = new Set([repository.name.toLowerCase()]);
  const ongoing = (await ongoingIn(deps, account, [repository], false)).flatMap((each) => {
    const freezes = each.freezes.filter(({ id }) => id === found.freeze);
    // Only this freeze, also of a plan.
    return freezes.length > 0 ? { ...each, freezes, plan: null } : [];
  });
  return { ongoing, administered, place: plain(fullName(repository)) };
}
