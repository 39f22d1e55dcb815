import { html, raw } from 'hono/html';
import type { MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { secureHeaders } from 'hono/secure-headers';
import {
  auditPath,
  calendarPath,
  exemptionsPath,
  ownerDeploymentsPath,
  ownerPath,
  ownerSettingsPath,
  plansPath,
} from '../page-paths.ts';
import { assetUrl, iconSvg } from './assets.ts';
import { deploymentsFrozen } from './held.ts';
import type { Html } from './html.ts';
import type { Live } from './live.ts';
import { icon } from './states.ts';
import { cityOf } from '../time/local-time.ts';

export type LayoutPage = {
  /** The title of the browser tab. The heading of the page is part of its body. */
  title: string;
  body: Html;
  /** Who is signed in, and the owners that they may open; null for nobody. Absent where nobody can sign in, such as on the setup page. */
  viewer?: { login: string; owners?: string[]; opens?: Opens | Promise<Opens> } | null;
  /** The owner that the page is about, for the navigation: absent on pages about none. */
  owner?: string;
  /** The owners of the home page, if it has several, and which of their pages the viewer may open: on a phone it has the tabs too. */
  owners?: { login: string; opens: Opens | Promise<Opens> }[];
  /** The page of the navigation that this one is. */
  tab?: Tab;
  /** The way from the owner to the page. The last one is the page itself. */
  crumbs?: Crumb[];
  /** The time zone of the page, to choose another one. Absent on pages without times. */
  zone?: string;
  /** More elements for the head. */
  head?: Html;
  /** The word of the tab if what the page is about is frozen, as the page says it; null if it is not. Absent where it has no state. */
  frozen?: string | null;
  /** How the page updates itself. */
  live?: Live;
  /** What is wrong with the service now, so that a change may fail. */
  trouble?: string | undefined;
};

/** The pages of the owner that not everybody may open, of those that the viewer may. None by default. */
export type Opens = readonly ('exemptions' | 'deployments' | 'audit' | 'settings')[];

/** A step of the way to a page. */
export type Crumb = { name: string; href?: string };

/** A complete page in the layout that all pages share. */
export function layout({
  title,
  body,
  viewer,
  owner,
  owners,
  tab,
  crumbs,
  zone,
  head,
  frozen = null,
  live,
  trouble,
}: LayoutPage): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${frozen ? `${frozen} · ` : ''}${title} · Holdfast</title>
        <link rel="stylesheet" href="${assetUrl('style.css')}" />
        <link rel="icon" type="image/svg+xml" href="${tabIcon(frozen)}" />
        <link rel="apple-touch-icon" href="${assetUrl('icon-192.png')}" />
        <link rel="manifest" href="/manifest.webmanifest" />
        <script type="module" src="${assetUrl('page.js')}"></script>
        ${viewer === undefined ? '' : html`<script type="module" src="${assetUrl('keep-form.js')}"></script>`}
        ${live ? html`<script type="module" src="${assetUrl('live.js')}"></script>` : ''} ${head ?? ''}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <div class="bar">
            <a class="brand" href="/" aria-label="Holdfast">${logo}<span class="word">Holdfast</span></a>
            ${owner ? ownerMenu(owner, viewer?.owners ?? []) : ''}
            <span class="rest"></span>
            ${viewer ? toFind : ''} ${zone ? zoneSwitch(zone) : ''}
            ${viewer ? signedIn(viewer.login) : viewer === null ? signIn : ''}
          </div>
          ${owner ? tabsOf(owner, tab, viewer?.opens) : owners ? tabsOfHome(owners) : ''}
        </header>
        <main
          id="main"
          ${live ? html`data-live="${live.path}" ${live.isMoving ? html`data-again` : ''}` : ''}
        >
          ${trouble ? html`<p class="notice wrong" role="alert">${trouble}</p>` : ''}
          ${owner && crumbs ? breadcrumb(owner, crumbs) : ''} ${body}
        </main>
        <footer>
          <a href="/help">Help</a>
          <a href="/docs">API reference</a>
        </footer>
      </body>
    </html>`;
}

/** @param all the owners that the reader may open. */
const ownerMenu = (login: string, all: string[]): Html =>
  html`<details class="menu owner">
    <summary><bdi>${login}</bdi></summary>
    <ul>
      ${all
        .filter((each) => each !== login)
        .map(
          (each) =>
            html`<li>
              <a href="${ownerPath(each)}"><bdi>${each}</bdi></a>
            </li>`,
        )}
      <li><a href="/">All owners</a></li>
    </ul>
  </details>`;

/** `acme / web / #5` */
const breadcrumb = (login: string, crumbs: Crumb[]): Html =>
  html`<nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      ${[{ name: login, href: ownerPath(login) }, ...crumbs].map(
        ({ name, href }: Crumb) =>
          html`<li>
            ${href ? html`<a href="${href}"><bdi>${name}</bdi></a>` : html`<bdi aria-current="page">${name}</bdi>`}
          </li>`,
      )}
    </ol>
  </nav>`;

/** The pages of an owner, in the order of the bar. On a phone those with a short name stand at the bottom, the others under More. */
const tabs = {
  overview: { name: 'Overview', short: 'Now', icon: 'lock', path: ownerPath },
  calendar: { name: 'Calendar', short: 'Calendar', icon: 'calendar', path: calendarPath },
  plans: { name: 'Plans', icon: 'checklist', path: plansPath },
  exemptions: {
    name: 'Exemptions',
    short: 'Requests',
    icon: 'unlock',
    path: exemptionsPath,
    isGuarded: true,
  },
  deployments: { name: 'Deployments', icon: 'rocket', path: ownerDeploymentsPath, isGuarded: true },
  audit: { name: 'Audit', icon: 'history', path: auditPath, isGuarded: true },
  settings: { name: 'Settings', icon: 'gear', path: ownerSettingsPath, isGuarded: true },
  help: { name: 'Help', icon: 'question', path: () => '/help' },
} as const;
type Tab = Exclude<keyof typeof tabs, 'help'>;

/** The navigation of an owner's pages. */
async function tabsOf(login: string, tab: Tab | undefined, opens: Opens | Promise<Opens> = []) {
  const shown = new Set<string>([...(await opens), tab ?? '']);
  const all = Object.entries(tabs).filter(([id, each]) => !('isGuarded' in each) || shown.has(id));
  const link = ([id, { name, icon: image, path, ...more }]: (typeof all)[number]) =>
    html`<a
      href="${path(login)}"
      ${id === tab ? html`aria-current="page"` : ''}
      ${'short' in more ? html`class="main"` : ''}
      >${icon(image)}${'short' in more && more.short !== name ? html`<span class="wide">${name}</span><span class="narrow">${more.short}</span>` : name}</a
    >`;
  return html`<nav class="tabs" aria-label="${login}">
    ${all.map(link)}
    <details class="menu more">
      <summary>${icon('kebab-horizontal')}More</summary>
      <ul>
        ${all.filter(([, each]) => !('short' in each)).map((each) => html`<li>${link(each)}</li>`)}
      </ul>
    </details>
  </nav>`;
}

/** The tabs of several owners: what is of one owner asks which. Only a phone shows them. */
async function tabsOfHome(owners: NonNullable<LayoutPage['owners']>) {
  const opens = await Promise.all(owners.map((each) => each.opens));
  const deciding = owners.filter((_, index) => opens[index]!.includes('exemptions'));
  const menu = (short: string, image: Parameters<typeof icon>[0], links: [string, string][]) =>
    html`<details class="menu more">
      <summary>${icon(image)}${short}</summary>
      <ul>
        ${links.map(
          ([path, name]) =>
            html`<li>
              <a href="${path}"><bdi>${name}</bdi></a>
            </li>`,
        )}
      </ul>
    </details>`;
  const { overview, calendar, exemptions, help } = tabs;
  const ofOwners = ({ path }: { path: (login: string) => string }, some = owners) =>
    some.map(({ login }): [string, string] => [path(login), login]);
  return html`<nav class="tabs of-home" aria-label="All owners">
    <a href="/" class="main" aria-current="page">${icon(overview.icon)}${overview.short}</a>
    ${menu(calendar.short, calendar.icon, ofOwners(calendar))}
    ${deciding.length > 0 ? menu(exemptions.short, exemptions.icon, ofOwners(exemptions, deciding)) : ''}
    ${menu('More', 'kebab-horizontal', [...ofOwners(overview), ['/find', 'Find'], [help.path(), help.name]])}
  </nav>`;
}

/** Leads to the page that finds; keys.js opens it as a dialog. */
const toFind = html`<a class="to-find" href="/find">${icon('search')}<span>Find</span> <kbd>Ctrl K</kbd></a>`;

/** Within the page. Not an image: pages have only those of people, so that tests can tell markup that people wrote. */
/** @param frozen the word of the tab. */
const tabIcon = (frozen: string | null): string => {
  if (!frozen) return assetUrl('icon.svg');
  return assetUrl(frozen === deploymentsFrozen ? 'icon-deployments-frozen.svg' : 'icon-frozen.svg');
};

const logo = html`<span class="logo" aria-hidden="true">${raw(iconSvg)}</span>`;

/** Shows the time zone of the page. The form works without scripts; local-times.js adds the names to choose from. */
const zoneSwitch = (zone: string): Html =>
  html`<details class="menu zone">
    <summary title="Time zone ${zone}">
      <span class="said">Time zone</span> <strong>${cityOf(zone)}</strong>
    </summary>
    <form method="post" action="/time-zone">
      <label for="own-zone">Show times in</label>
      <input
        id="own-zone"
        name="own_zone"
        list="every-zone"
        placeholder="${zone}"
        maxlength="100"
        spellcheck="false"
        autocapitalize="none"
        autocomplete="off"
      />
      <datalist id="every-zone"></datalist>
      <p class="muted">For example, Europe/Berlin. Leave empty for the browser’s zone.</p>
      <button type="submit" class="quiet">Change time zone</button>
    </form>
  </details>`;

/** After signing in, people return to the page with this link. The browser's `Referer` names it. */
const signIn = html`<a href="/auth/sign-in">Sign in</a>`;

const signedIn = (login: string): Html =>
  html`<form class="session" method="post" action="/auth/sign-out">
    <span>${login}</span>
    <button type="submit" class="quiet">Sign out</button>
  </form>`;

/**
 * The security headers of every page: it loads our style sheet and scripts only, cannot be framed, and sends forms to us
 * only. `style` attributes and inline scripts do not work either: use classes and SVG presentation attributes.
 * @param formTargets other origins that forms of the page may go to. @param pictures origins of pictures of people.
 */
export const headersOfPages = (formTargets: string[] = [], pictures: string[] = []): MiddlewareHandler =>
  securityHeaders({
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    imgSrc: ["'self'", ...pictures],
    // Pages that update themselves listen to our events.
    connectSrc: ["'self'"],
    formAction: ["'self'", ...formTargets],
  });

/** @param allowed what a page may load; all else it may not. */
export const securityHeaders = (allowed: Record<string, string[]>): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      ...allowed,
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    referrerPolicy: 'same-origin',
    xFrameOptions: 'DENY',
    // The proxy in front of Holdfast decides about HTTPS.
    strictTransportSecurity: false,
  });

/** Compresses pages and what they load, if the client accepts that. Events must not wait in a buffer. */
export const compressPages: MiddlewareHandler = compress({
  contentTypeFilter: /^(text\/(html|css|javascript)|image\/svg\+xml)\b/,
});
