import { html } from 'hono/html';
import type { PageDeps } from '../reader.ts';
import { freezeGroupsWithin } from '../../explanations/freeze-groups.ts';
import { holdsDeployments, holdsMerges } from '../../freezes/freeze.ts';
import type { PlanPreview } from '../../explanations/preview-plan.ts';
import { dayAndTime } from '../../time/local-time.ts';
import { shorten } from '../../words/event-words.ts';
import type { Html } from '../html.ts';
import type { Times } from '../text.ts';
import { countText } from './plan-preview.ts';

/** How many other freezes are looked at, and how many are named. */
const mostFound = 50;
const mostNamed = 3;
/** How far ahead a freeze without an end is compared. */
const ahead = 35 * 86_400_000;

/**
 * Names the freezes that block the same in some of the same repositories at the same time.
 * @param own the plan that the form changes, which is no other one.
 */
export async function otherFreezes(
  { db }: PageDeps,
  { matchedIds, nextOccurrences, plan }: PlanPreview,
  times: Times,
  own: string | null,
): Promise<Html | ''> {
  const [first] = nextOccurrences;
  if (!first || matchedIds.length === 0) return '';
  const endOf = (endsAt: Date | null) => endsAt?.getTime() ?? times.now.getTime() + ahead;
  const span = {
    from: first.startsAt > times.now ? first.startsAt : times.now,
    to: new Date(Math.max(...nextOccurrences.map(({ endsAt }) => endOf(endsAt)))),
  };
  const groups = await freezeGroupsWithin(db, matchedIds, matchedIds, span, mostFound);
  const meets = (group: (typeof groups)[number]) =>
    ((group.holdsMerges && holdsMerges(plan)) || (group.holdsDeployments && holdsDeployments(plan))) &&
    nextOccurrences.some(
      ({ startsAt, endsAt }) =>
        (endsAt === null || group.startsAt < endsAt) && (group.endsAt === null || group.endsAt > startsAt),
    );
  const others = groups.filter((group) => (own === null || group.planId !== own) && meets(group));
  if (others.length === 0) return '';
  const more = others.length - mostNamed;
  return html`<div class="notice others">
    ${others
      .slice(0, mostNamed)
      .map(
        ({ reason, repositories, startsAt, endsAt }) =>
          html`<p>
            <strong dir="auto">${shorten(reason, 80)}</strong> freezes
            ${repositories === matchedIds.length ? 'the same' : ''}
            ${countText(repositories, 'repository', 'repositories')}${repositories === matchedIds.length ? '' : ' of these'}
            too,
            ${startsAt > times.now ? `from ${dayAndTime(startsAt, times.zone, times.now)} ` : ''}${endsAt ? `until ${dayAndTime(endsAt, times.zone, times.now)}` : 'until somebody ends it'}.
          </p>`,
      )}
    ${more > 0 ? html`<p>So do ${more} others.</p>` : ''}
  </div>`;
}
