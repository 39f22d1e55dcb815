import { html } from 'hono/html';
import { validate } from '../../api/read-request.ts';
import { newCalendar } from '../../api/v1/calendars.ts';
import { type CalendarFeed, createFeed, deleteFeed, listFeeds } from '../../calendars/manage-feeds.ts';
import { forbidden } from '../../errors.ts';
import { calendarPath, subscribePath } from '../../page-paths.ts';
import { answerForm, type OwnerChange } from '../change.ts';
import { linesOf } from '../condition-fields.ts';
import {
  chips,
  confirmation,
  formProblem,
  type FormProblems,
  hiddenField,
  idField,
  noProblems,
  formProblemsOf,
  textArea,
} from '../form.ts';
import { holdsSecret } from '../kept-answers.ts';
import type { Html } from '../html.ts';
import { type Crumb } from '../layout.ts';
import { saidMessage, messagePage, showPage } from '../message-page.ts';
import type { OwnerVisit } from '../owner/open-owner.ts';
import { signInFirst, readerTimes } from '../reader.ts';
import { instantText, type Times, toCopy } from '../text.ts';

/** `GET /owners/{owner}/calendar/subscribe`: the calendars of an owner for calendar apps. For admins of the owner. */
export async function showSubscribe(visit: OwnerVisit): Promise<Response> {
  const { account, context, viewer, isAdmin } = visit;
  if (!viewer) return signInFirst(visit);
  if (isAdmin) return page(visit);
  const { login } = account;
  const text = `Only admins of ${login} on GitHub can create an address that everybody can read who has it.`;
  const link = { href: calendarPath(login), text: 'Back to the calendar' };
  return messagePage(context, { status: 403, title: 'You cannot subscribe here', text, link }, viewer);
}

/** `POST /owners/{owner}/calendar/subscribe`: creates a calendar and shows its address once, or deletes one. */
export const sendSubscribe = (change: OwnerChange): Promise<Response> =>
  answerForm(
    change,
    async () => {
      const { deps, actor, account, administered, form } = change;
      if (administered !== null) throw forbidden(`Only admins of ${account.login} can change its calendars.`);
      if (form.get('do') !== 'delete') return createByForm(change);
      await deleteFeed(deps, actor, account, idField(form, 'id'));
      return `${subscribePath(account.login)}?said=saved`;
    },
    (problems) => page(change, problems),
    (error) => formProblemsOf(error),
  );

async function createByForm(change: OwnerChange): Promise<Response> {
  const { deps, actor, account, form } = change;
  const names = linesOf(form.get('repositories') ?? '');
  const sent = { repositories: names.length > 0 ? names : null, public_text: form.get('text') !== 'all' };
  const { repositories = null, public_text: publicText = true } = validate(newCalendar, sent, 'body');
  const { url } = await createFeed(deps, actor, account, { repositories, publicText });
  holdsSecret(change.context);
  const back = subscribePath(account.login);
  const crumbs = [{ name: 'Subscribe', href: back }, { name: 'New calendar' }];
  return show(
    change,
    crumbs,
    'New calendar',
    html`<p class="notice done" role="status">
        Copy an address now. Holdfast does not show it again. Everybody who has it can read the calendar.
      </p>
      <p><a class="button" href="${url.replace(/^https?:/, 'webcal:')}">Open in a calendar app</a></p>
      <h2>For Google Calendar and Outlook on the web</h2>
      ${toCopy(url)}
      <h2>For other apps</h2>
      ${toCopy(url.replace(/^https?:/, 'webcal:'))}
      <p class="muted">
        Google reads it every 8 to 24 hours, Outlook on the web about every 3 hours. Both must reach this
        Holdfast from the internet. <a href="/help/calendars">How calendars work</a>
      </p>
      <p><a href="${back}">Back</a></p>`,
  );
}

type FeedVisit = Pick<OwnerVisit, 'deps' | 'context' | 'viewer' | 'account'>;

async function page(visit: FeedVisit, problems: FormProblems = noProblems): Promise<Response> {
  const { deps, account, context } = visit;
  const { login } = account;
  const action = subscribePath(login);
  const feeds = await listFeeds(deps, account);
  const times = readerTimes(visit);
  const body = html`${saidMessage(context)} ${formProblem(problems, ['repositories'])}
    <p>
      A calendar app that subscribes to an address shows the freezes of ${login}, and what plans will do
      within a year. <a href="/help/calendars">How calendars work</a>
    </p>
    <form class="card form" method="post" action="${action}">
      ${textArea({
        ...{ name: 'repositories', label: 'Repositories', problems },
        hint: html`One name on each line, such as <code>web</code>. Leave empty for all.`,
        attributes: html`spellcheck="false" autocapitalize="none" autofocus`,
      })}
      ${chips('radio', { name: 'text', label: 'Events have' }, texts, ['public'])}
      <div class="actions"><button type="submit">Create calendar</button></div>
    </form>
    <h2>Calendars</h2>
    ${feeds.length === 0 ? html`<p>No calendars.</p>` : feeds.map((feed) => row(action, feed, times))}`;
  const status = problems.size > 0 ? 422 : 200;
  return show(visit, [{ name: 'Subscribe' }], `Subscribe to the freezes of ${login}`, body, status);
}

const texts = [
  { value: 'public', label: 'Public text: public reasons, no names of people' },
  { value: 'all', label: 'Everything that an admin reads' },
];

const row = (action: string, feed: CalendarFeed, times: Times): Html =>
  html`<div class="card">
    <strong>${feed.repositories?.join(', ') ?? 'All repositories'}</strong>
    <span class="badge past">${feed.publicText ? 'public text' : 'everything'}</span>
    <p class="muted">Created ${instantText(feed.createdAt, times)} by <bdi>${feed.createdBy.name}</bdi></p>
    ${confirmation(
      'Delete…',
      action,
      html`${hiddenField('do', 'delete')} ${hiddenField('id', feed.id)}
        <p>Its address stops working at once, for everybody who subscribed to it.</p>`,
      'Delete calendar',
    )}
  </div>`;

function show(
  visit: FeedVisit,
  more: Crumb[],
  title: string,
  body: Html,
  status: 200 | 422 = 200,
): Response | Promise<Response> {
  const { account } = visit;
  const crumbs = [{ name: 'Calendar', href: calendarPath(account.login) }, ...more];
  const headed = html`<h1>${title}</h1>
    ${body}`;
  return showPage(visit, { title, body: headed, owner: account.login, tab: 'calendar', crumbs }, status);
}
