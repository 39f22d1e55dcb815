import { html } from 'hono/html';
import { presentEvent } from '../../api/v1/logs.ts';
import { actsIn, didToFreezes } from '../audit/acts.ts';
import { describeEvent } from '../../words/describe-event.ts';
import { shorten, whoActed } from '../../words/event-words.ts';
import type { ListedEvent } from '../../events/list-events.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import { auditPath } from '../../page-paths.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import type { Html } from '../html.ts';
import type { PageDeps } from '../reader.ts';
import { instantText, type Times } from '../text.ts';

/** How many events are read, and how many acts of them are shown. */
const mostRead = 60;
const mostShown = 6;

/** Who did what last in an owner, for its admins: an act is a line, also one that froze many repositories. One statement. */
export async function latestActs(
  { db }: Pick<PageDeps, 'db'>,
  { id, login }: Pick<InstalledAccount, 'id' | 'login'>,
  times: Times,
): Promise<Html | ''> {
  const read = await db.auditEvent.findMany({
    // What people and their tools did; not what time did.
    where: { accountId: id, trigger: { notIn: ['clock', 'github', 'plan'] } },
    orderBy: { id: 'desc' },
    take: mostRead,
  });
  const acts = actsIn(read.map((event): ListedEvent => ({ ...event, behind: null }))).slice(0, mostShown);
  if (acts.length === 0) return '';
  return html`<section aria-labelledby="activity">
    <h2 id="activity">Activity</h2>
    <ol class="activity">
      ${acts.map((act) => {
        const first = act.head ?? act.events[0]!;
        const event = presentEvent(first, true);
        const { actor, did, subject } = describeEvent(event);
        const isOfMany = !act.head && act.events.length > 1;
        const names = new Set(
          act.events.map((each) => describeEvent(presentEvent(each, true)).subject?.name),
        );
        // Freezes of several reasons have no name together.
        const isNamed = act.head !== null || names.size === 1;
        const many = countText(act.events.length, 'freeze');
        return html`<li>
          <p>
            <strong><bdi>${shorten(whoActed(actor, event), 60)}</bdi></strong>
            ${isOfMany ? `${didToFreezes(act)} ${many}` : did}${isNamed && subject && subject.name !== '' ? html`: <bdi>${shorten(subject.name, 80)}</bdi>` : ''}
          </p>
          <p class="muted">
            ${instantText(first.receivedAt, times)}${!isOfMany && event.repository ? html`, <bdi>${event.repository.slice(login.length + 1)}</bdi>` : ''}
          </p>
        </li>`;
      })}
    </ol>
    <p><a href="${auditPath(login)}">Audit log</a></p>
  </section>`;
}
