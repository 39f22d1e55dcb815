import { html } from 'hono/html';
import { z } from 'zod';
import { sentUuid } from '../api/fields.ts';
import { notFound } from '../errors.ts';
import type { Selection } from '../auth/authorize-owner-or.ts';
import { progressPath } from '../page-paths.ts';
import { announce, announcementOf, chatsOf, type Told } from '../notices/announce.ts';
import { findPlan } from '../plans/plan-store.ts';
import { nowOf } from '../time/clock.ts';
import type { OwnerChange, SentForm } from './change.ts';
import { type FreezeProgress, holdsNothing, whatGoesPast } from './freeze-progress.ts';
import { hiddenField, idField } from './form.ts';
import type { Html } from './html.ts';
import type { OwnerVisit } from './owner/open-owner.ts';
import { nameOfKind } from './settings/webhook-form.ts';
import { toCopy } from './text.ts';

// After a freeze is made: a text to tell people, to copy or to post to a chat.

/** What a page of progress is about, in its query. */
export const progressSubject = z.union([
  z.object({ plan: sentUuid }).transform(({ plan }): Told => ({ plan })),
  z.object({ freeze: sentUuid }).transform(({ freeze }): Told => ({ freeze })),
]);

/** The freezes that a form or a URL names; null if none. */
const toldIn = (fields: URLSearchParams): Told | null =>
  progressSubject.safeParse(Object.fromEntries(fields)).data ?? null;

/**
 * The text, and a button for each chat of the owner; for people who may freeze. A chat gets no more than what the log says,
 * so it is not told of a freeze of deployments that something is known to go past: only the text says what.
 */
export async function tellPeople(
  { deps, account, context, mayFreeze }: OwnerVisit,
  progress: FreezeProgress,
): Promise<Html> {
  const told = toldIn(new URLSearchParams(context.req.query()));
  const past = progress.deployments === null ? { said: [], isKnown: false } : whatGoesPast(progress);
  const text = told && mayFreeze === true ? await announcementOf(deps, account, told, past.said) : null;
  if (!told || text === null) return html``;
  const [[what, id]] = Object.entries(told) as [[string, string]];
  const chats = past.isKnown ? [] : await chatsOf(deps, account);
  return html`<section class="card" aria-labelledby="tell-people">
    <h2 class="first" id="tell-people">Tell people</h2>
    ${
      holdsNothing(progress)
        ? html`<p>The freeze holds no deployment, so there is nothing to tell yet.</p>`
        : toCopy(text)
    }
    ${past.isKnown && !holdsNothing(progress) ? html`<p class="muted">A chat would not learn what is not held. Copy the text.</p>` : ''}
    <div class="actions">
      ${chats.map(
        (chat) =>
          html`<form method="post" action="/owners/${account.login}/progress/tell">
            ${hiddenField(what, id)} ${hiddenField('webhook', chat.id)}
            <button type="submit" class="quiet">
              Post to <bdi>${chat.description ?? nameOfKind(chat.kind)}</bdi>
            </button>
          </form>`,
      )}
    </div>
  </section>`;
}

/** The repositories whose freezes a chat is told of: whoever may freeze them may tell. */
export async function namedByTelling({
  deps,
  account,
  form,
}: SentForm & { account: OwnerChange['account'] }): Promise<Selection | null> {
  const told = toldIn(form);
  if (!told) return null;
  if ('plan' in told) {
    const plan = await findPlan(deps.db, { id: told.plan, accountId: account.id }, nowOf(deps.clock));
    return plan && plan.repositories;
  }
  const found = await deps.db.freeze.findFirst({
    where: { id: told.freeze, repository: { accountId: account.id } },
    select: { repository: { select: { name: true } } },
  });
  return found && { include: [found.repository.name], exclude: [] };
}

/** `POST /owners/{owner}/progress/tell`. */
export async function sendTelling({ deps, context, actor, account, form }: OwnerChange): Promise<Response> {
  const told = toldIn(form);
  if (!told) throw notFound('There is no such freeze.');
  await announce(deps, actor, account, idField(form, 'webhook'), told);
  return context.redirect(`${progressPath(account.login, told)}&said=told`, 303);
}
