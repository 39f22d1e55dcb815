import { html } from 'hono/html';
import { settingsChange } from '../../api/v1/settings.ts';
import { validate } from '../../api/read-request.ts';
import { type Product, productNames } from '../../installations/product.ts';
import { settingColumns } from '../../installations/setting-fields.ts';
import { pushesAreRefused } from '../../explanations/enforcement/refused-pushes.ts';
import { ownerSettingsPath } from '../../page-paths.ts';
import type { SettingsChange, ShownSettings } from '../../settings/settings.ts';
import type { OwnerChange } from '../change.ts';
import { assetUrl } from '../assets.ts';
import {
  assertFresh,
  chips,
  formProblem,
  type FormProblems,
  hiddenField,
  ifSent,
  previewedOf,
  textField,
  trimmedField,
  typedIn,
  versionField,
} from '../form.ts';
import { minute } from '../../time/units.ts';
import { holdsSecret, secretKeptFor } from '../kept-answers.ts';
import type { Html } from '../html.ts';
import { layout } from '../layout.ts';
import { messagePage } from '../message-page.ts';
import { type Times, toCopy } from '../text.ts';
import type { Deps } from '../../deps.ts';
import type { InstalledAccount } from '../../installations/find-account.ts';
import type { Visit } from '../reader.ts';
import {
  type ChooserPlace,
  hasPeople,
  loadPeople,
  peopleChooser,
  peopleIn,
  type PeopleSetting,
  peopleSettings,
} from './people-chooser.ts';

// The settings that repositories and owners have alike. A repository can also leave a setting to its owner. A form has
// all of them, or those of one subject: what it does not have stays.

/** A setting, by its name in the API. */
type SettingName = (typeof settingColumns)[number];

/**
 * @property owner for a repository: whose values it has where it sets none. Null for the owner itself.
 * @property refused whom the ruleset of an instant hold refuses, in sentences.
 */
type SettingsForm = {
  deps: Deps;
  place: ChooserPlace;
  action: string;
  settings: ShownSettings;
  /** Which of them it has. */
  columns: readonly SettingName[];
  owner: string | null;
  refused: string[];
  problems: FormProblems;
  /** The form that was refused: its fields keep what was typed. */
  sent: URLSearchParams | null;
};

/** Answers whoever may not see settings. @param name of what has them. */
export const adminsOnly = (
  { context, viewer }: Pick<Visit, 'context' | 'viewer'>,
  name: string,
  link: { href: string; text: string },
): Promise<Response> => {
  const text = `Only admins of ${name} on GitHub see and change its settings.`;
  return messagePage(context, { status: 403, title: 'You cannot change these settings', text, link }, viewer);
};

/** Shows a new secret, for as long as the page is kept. @param back where the settings go on. */
export const secretPage = (
  { context, viewer, account }: OwnerChange,
  { title, notice, secret, back }: { title: string; notice: string; secret: string; back: string },
): Response | Promise<Response> => {
  holdsSecret(context);
  const body = html`<h1><bdi>${title}</bdi></h1>
    <p class="notice done" role="status">
      ${notice} This page shows it for ${secretKeptFor / minute} minutes. After that, Holdfast does not show
      it again.
    </p>
    ${toCopy(secret)}
    <p><a class="button" href="${back}">Back to the settings</a></p>`;
  const crumbs = [{ name: 'Settings', href: ownerSettingsPath(account.login) }, { name: 'Secret' }];
  return context.html(layout({ title, body, viewer, owner: account.login, tab: 'settings', crumbs }));
};

/** What a subject of an owner's settings is about, and where its forms go. */
export type SettingsSection = {
  deps: Deps;
  account: InstalledAccount;
  action: string;
  problems: FormProblems;
  /** The form of the page that was refused, if any. */
  sent: URLSearchParams | null;
  times: Times;
};

/**
 * What forms of a subject do, by their `do`. One that shows a page of its own, such as a secret, gives that; one that goes
 * on elsewhere than at its subject, the path.
 */
export type Forms = Record<string, (change: OwnerChange) => Promise<unknown>>;

/** A form that a button unfolds. One that was refused is unfolded. @param fields the names of its fields: a problem with one unfolds it, too. */
export const foldedForm = (
  { action, problems, sent }: SettingsSection,
  { name, does, fields, act }: { name: string; does: string; fields: string[]; act: string },
  content: Html,
): Html =>
  html`<details ${ifSent(sent, does) || fields.some((each) => problems.has(each)) ? html`open` : ''}>
    <summary class="button quiet">${name}</summary>
    <form class="card form" method="post" action="${action}">
      ${hiddenField('do', does)} ${content}
      <div class="actions"><button type="submit" class="quiet">${act}</button></div>
    </form>
  </details>`;

/** The value of a choice that leaves the setting to the owner. */
const inherit = 'inherit';

const yesOrNo = { true: 'Required', false: 'Not required' };
const commands = { true: 'All', requests: 'Only status and exempt', false: 'None' };
const instantHolds = { off: 'Off', bridge: 'Until the statuses block', lock: 'Until the last freeze ends' };
const released = { newest: 'The newest of each workflow', all: 'All, one after another' };
/** What was wrong with a form. Fields with a place for it show it there, too. */
export const settingsProblem = (problems: FormProblems): Html =>
  formProblem(problems, ['longest_open_end_hours', 'freezers', 'approvers']);

/** What a form with these settings shows, each by itself: `freezers=Xw… approvers=5d…`. */
const versionOf = (settings: ShownSettings, columns: readonly SettingName[]): string =>
  previewedOf(
    Object.fromEntries(
      columns.map((name) => [name, [settings[name], settings.inherited?.includes(name) ?? false]]),
    ),
  );

/** The settings that a form has, which was sent. */
const columnsOf = (form: URLSearchParams): SettingName[] =>
  settingColumns.filter((name) => form.has(name) || (isPeople(name) && hasPeople(form, name)));
const isPeople = (name: SettingName): name is PeopleSetting =>
  (peopleSettings as readonly string[]).includes(name);

/** @throws Refusal conflict if somebody changed what the form has after it was opened. */
export function assertFreshSettings(form: URLSearchParams, settings: ShownSettings): void {
  const seen = form.get('version')?.split(' ') ?? [];
  const has = new Set<string>([...columnsOf(form), ...seen.map((each) => each.split('=')[0]!)]);
  const shown = settingColumns.filter((name) => has.has(name));
  const isFresh =
    shown.length === seen.length && shown.every((name) => seen.includes(versionOf(settings, [name])));
  assertFresh(form, isFresh ? seen.join(' ') : '', 'these settings');
}

export async function settingsForm(given: SettingsForm): Promise<Html> {
  const { deps, place, action, settings, columns, owner, refused, problems, sent: any } = given;
  const inherited = new Set(owner === null ? [] : settings.inherited);
  const sent = ifSent(any, 'settings');
  const typed = typedIn(sent);
  const version = versionOf(settings, columns);
  // Somebody saved meanwhile: what is saved stands beside what was typed, where they differ.
  const isOvertaken = sent !== null && sent.get('version') !== version;
  const savedNow = (isOther: boolean, shown: string | undefined) =>
    isOvertaken && isOther ? html`<strong>Saved now: <bdi>${shown || 'nothing'}</bdi>.</strong> ` : '';
  const choices = (
    name: keyof SettingsChange,
    label: string,
    values: Record<string, string>,
    hint: Html | string,
  ) => {
    const all = owner === null ? values : { [inherit]: `As ${owner}`, ...values };
    const stored = inherited.has(name) ? inherit : 'own' in values ? 'own' : String(settings[name]);
    const hints = html`${savedNow(typed.text(name, stored) !== stored, all[stored])}${hint}`;
    const choices = Object.entries(all).map(([value, text]) => ({ value, label: text }));
    return chips('radio', { name, label, hint: hints }, choices, [typed.text(name, stored)]);
  };
  const people = async (name: PeopleSetting, label: string, hint: Html | string) => {
    const stored = settings[name];
    const chosen = await loadPeople(deps, place, name, stored, sent);
    const isOther = sent !== null && peopleIn(sent, name).join() !== stored.join();
    return html`${owner === null ? '' : choices(name, label, { own: 'Its own list' }, '')}
      <div class="of-${name}">
        ${peopleChooser(name, owner === null ? label : `${label}: own list`, chosen, {
          hint: html`${savedNow(isOther, stored.join(', '))}${hint}`,
          problem: problems.get(name),
        })}
      </div>`;
  };
  const hours = inherited.has('longest_open_end_hours') ? '' : String(settings.longest_open_end_hours ?? '');
  const fields: Record<SettingName, () => Html | Promise<Html>> = {
    freezers: () => people('freezers', 'Freezers', freezersHint),
    approvers: () => people('approvers', 'Approvers', approversHint),
    two_person_exemptions: () =>
      choices(
        'two_person_exemptions',
        'Second person for exemptions',
        yesOrNo,
        'If required, nobody approves their own request, admins included.',
      ),
    longest_open_end_hours: () =>
      textField({
        name: 'longest_open_end_hours',
        label: 'Maximum length of freezes without an end, in hours',
        value: typed.text('longest_open_end_hours', hours),
        problems,
        hint: html`${savedNow(typed.text('longest_open_end_hours', hours) !== hours, hours)}${
          owner === null
            ? 'Leave empty for no limit.'
            : `Leave empty to do as ${owner} does${inLimit(settings)}.`
        }`,
        attributes: html`inputmode="numeric" maxlength="6"`,
      }),
    comment_commands: () =>
      choices(
        'comment_commands',
        'Commands in comments',
        commands,
        'People type them on pull requests: /holdfast status.',
      ),
    instant_hold: () =>
      choices(
        'instant_hold',
        'Instant hold',
        instantHolds,
        html`${instantHoldHint} ${refused.map((each) => html`<br />${each}`)}`,
      ),
    release_deployments: () =>
      choices(
        'release_deployments',
        'Deployments at the end of a freeze',
        released,
        'Of those that waited. Older ones are rejected, or wait until the one before has begun.',
      ),
  };
  return html`<form class="card form" method="post" action="${action}">
      ${hiddenField('do', 'settings')} ${versionField(version)}
      ${await Promise.all(columns.map((name) => fields[name]()))}
      <div class="actions"><button type="submit">Save settings</button></div>
    </form>
    ${columns.some(isPeople) ? html`<script type="module" src="${assetUrl('people.js')}"></script>` : ''}`;
}

const instantHoldHint = html`A ruleset blocks the branches of a freeze at once. ${pushesAreRefused} It needs a
  second GitHub App: see <a href="/help/instant-hold">Instant hold</a>.`;
const freezersHint = html`Besides admins, they can freeze and unfreeze. Find people such as
  <code>ada</code> and teams such as <code>@acme/release</code>.`;
const approversHint = 'Besides admins, they can approve, deny and revoke exemptions.';

const inLimit = ({ longest_open_end_hours: hours }: ShownSettings): string =>
  hours === null ? '' : `: ${hours} hours`;

/**
 * What the form sets.
 * @param isOfRepository whether settings can be left to the owner.
 * @throws Refusal invalid as the API.
 */
export function readSettingsForm(form: URLSearchParams, isOfRepository: boolean): SettingsChange {
  const people = (name: PeopleSetting) =>
    isOfRepository && trimmedField(form, name) !== 'own' ? null : peopleIn(form, name);
  const read = (name: SettingName) => (isPeople(name) ? people(name) : valueOf(trimmedField(form, name)));
  const change = Object.fromEntries(columnsOf(form).map((name) => [name, read(name)]));
  return validate(settingsChange, change, 'body');
}

/** `true`, `72`, `requests`; null for what is left to the owner or not limited. */
function valueOf(text: string): boolean | number | string | null {
  if (text === '' || text === inherit) return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** @param heading names what has the products. @param chosen the enabled ones. @param sent the form of the page that was refused. */
export const productsForm = (
  action: string,
  heading: string,
  chosen: readonly Product[],
  sent: URLSearchParams | null,
): Html =>
  html`<h2>${heading}</h2>
    <form class="card form" method="post" action="${action}">
      ${hiddenField('do', 'products')}
      ${chips(
        'checkbox',
        { name: 'product', label: 'Enabled', hint: productsHint },
        productNames.map((value) => ({ value, label: html`<code>${value}</code>` })),
        typedIn(ifSent(sent, 'products')).all('product', [...chosen]),
      )}
      <div class="actions"><button type="submit" class="quiet">Save products</button></div>
    </form>`;

const productsHint = html`Freezes block merges while <code>merge_protections</code> or
  <code>merge_queue</code> is enabled.`;

export const readProductsForm = (form: URLSearchParams): Product[] =>
  productNames.filter((product) => form.getAll('product').includes(product));
