import { html } from 'hono/html';
import { refusedIf, Refusal } from '../errors.ts';
import {
  auditPath,
  calendarPath,
  exemptionsPath,
  ownerFormPath,
  ownerPath,
  ownerSettingsPath,
  planPath,
  plansPath,
  pullRequestPath,
  repositoryPath,
} from '../page-paths.ts';
import { shownName } from '../plans/plan-name.ts';
import { listPlans } from '../plans/plan-store.ts';
import { nowOf } from '../time/clock.ts';
import { ownersOf } from './home.ts';
import type { Html } from './html.ts';
import { showPage } from './message-page.ts';
import type { SeenOwner } from './owner/overview.ts';
import type { PageDeps, Visit } from './reader.ts';

/** A place that the reader may open. */
type Found = { href: string; name: string; kind: string };

/** How many of each kind are found. */
const most = 8;
const longest = 100;

/**
 * `GET /find`: finds a repository, a pull request, a plan, a person or a page by a part of its name. keys.js shows it in a
 * dialog; without scripts it is a page.
 */
export async function showFind(visit: Visit): Promise<Response> {
  const { deps, context, viewer } = visit;
  const q = (context.req.query('q') ?? '').trim().slice(0, longest);
  const seen =
    viewer && q !== ''
      ? await ownersOf(deps, viewer).catch(refusedIf('unavailable', 'too-many-requests'))
      : null;
  const owners = seen === null || seen instanceof Refusal ? [] : seen.owners;
  const found = q === '' ? [] : [...(await findAll(deps, owners, q)), inHelp(q)];
  const body = html`<h1>Find</h1>
    <form method="get" role="search" class="find">
      <input
        type="search"
        name="q"
        value="${q}"
        maxlength="${longest}"
        aria-label="Repository, pull request, plan, person or page"
        placeholder="Repository, pull request, plan, person or page"
        autofocus
        autocomplete="off"
      />
      <button type="submit" class="quiet">Find</button>
    </form>
    ${seen instanceof Refusal ? html`<p class="notice" role="status">${seen.message}</p>` : ''}
    <ul id="found" class="found">
      ${found.map(
        ({ href, name, kind }) =>
          html`<li>
            <a href="${href}"><bdi>${name}</bdi> <span class="muted">${kind}</span></a>
          </li>`,
      )}
    </ul>
    ${keys}`;
  return showPage(visit, { title: 'Find', body });
}

const inHelp = (q: string): Found => ({
  href: `/help/search?${new URLSearchParams({ q })}`,
  name: q,
  kind: 'in Help',
});

/** What owners have of that name: pages first, then repositories, pull requests, plans and people. */
async function findAll(deps: PageDeps, owners: SeenOwner[], q: string): Promise<Found[]> {
  const isIt = (text: string) => text.toLowerCase().includes(q.toLowerCase());
  const pages = owners.flatMap((owner) => pagesOf(owner).filter(({ name }) => isIt(name)));
  const all = owners.flatMap(({ account, repositories }) =>
    repositories.map(({ id, name }) => ({ id, name, account })),
  );
  const repositories = all.filter(({ name, account }) => isIt(`${account.login}/${name}`));
  const number = /^#?(\d{1,9})$/.exec(q)?.[1];
  const [pulls, plans] = await Promise.all([
    deps.db.$queryRaw<{ id: bigint; number: number; title: string | null }[]>`
      SELECT repository_id AS id, number, title FROM open_pull_requests
      WHERE repository_id = ANY (${all.map(({ id }) => id)}::int8[])
        AND (number = ${number === undefined ? null : Number(number)}::int OR position(lower(${q}) IN lower(title)) > 0)
      ORDER BY repository_id, number LIMIT ${most}`,
    Promise.all(
      owners
        .filter(({ isAdmin }) => isAdmin)
        .map(async ({ account }) => {
          const its = await listPlans(deps.db, account.id, nowOf(deps.clock));
          return its.map((plan) => ({
            href: planPath(account.login, plan.id),
            name: shownName(plan, true),
            kind: `plan of ${account.login}`,
          }));
        }),
    ),
  ]);
  const places = new Map(all.map((each) => [each.id, each]));
  const found = [
    ...pages.slice(0, most),
    ...repositories.slice(0, most).map((each) => ({
      href: repositoryPath(each),
      name: `${each.account.login}/${each.name}`,
      kind: 'repository',
    })),
    ...pulls.map((each) => ({
      href: pullRequestPath(places.get(each.id)!, each.number),
      name: `#${each.number} ${each.title ?? ''}`,
      kind: places.get(each.id)!.name,
    })),
    ...plans
      .flat()
      .filter(({ name }) => isIt(name))
      .slice(0, most),
  ];
  // Every word may be a login, so without an @ it is offered where nothing else has that name.
  const isLogin = /^@?[\w-]{1,39}$/.test(q) && number === undefined;
  if (!isLogin || (found.length > 0 && !q.startsWith('@'))) return found;
  const people = owners.filter(({ isAdmin }) => isAdmin).slice(0, 3);
  return [
    ...found,
    ...people.map(({ account: { login } }) => ({
      href: `${auditPath(login)}?${new URLSearchParams({ by: q.replace('@', ''), days: '90' })}`,
      name: q,
      kind: `what they did in ${login}`,
    })),
  ];
}

function pagesOf({ account: { login }, isAdmin, mayFreeze }: SeenOwner): Found[] {
  const page = (name: string, href: string): Found => ({ href, name, kind: login });
  return [
    page(login, ownerPath(login)),
    ...(mayFreeze
      ? [
          page('Freeze now', ownerFormPath(login, 'freeze')),
          page('Unfreeze', ownerFormPath(login, 'unfreeze')),
          page('New plan', ownerFormPath(login, 'plans/new')),
        ]
      : []),
    page('Calendar', calendarPath(login)),
    page('Plans', plansPath(login)),
    page('Exemptions', exemptionsPath(login)),
    ...(isAdmin ? [page('Audit log', auditPath(login)), page('Settings', ownerSettingsPath(login))] : []),
  ];
}

const keys: Html = html`<section id="keys" aria-labelledby="keys-heading">
  <h2 id="keys-heading">Keys</h2>
  <dl>
    ${[
      ['Ctrl K, ⌘ K', 'find a repository, a pull request, a plan, a person or a page'],
      ['/', 'search on this page, or find'],
      ['f', 'freeze now'],
      ['?', 'this list'],
      ['Escape', 'close a menu or a dialog'],
    ].map(
      ([key, does]) =>
        html`<div>
          <dt><kbd>${key}</kbd></dt>
          <dd>${does}</dd>
        </div>`,
    )}
  </dl>
  <label hidden
    ><input type="checkbox" data-single-keys /> Use the keys <kbd>/</kbd>, <kbd>f</kbd> and
    <kbd>?</kbd></label
  >
</section>`;
