import { html } from 'hono/html';
import type { Deps } from '../../deps.ts';
import { refusedIf, Refusal } from '../../errors.ts';
import { type Face, findPeople } from '../../github/find-people.ts';
import type { RolePlace } from '../../settings/role-holders.ts';
import { linesOf } from '../condition-fields.ts';
import { hiddenField, noProblems, textField } from '../form.ts';
import type { Html } from '../html.ts';
import { isFromOwnPage } from '../message-page.ts';
import type { Visit } from '../reader.ts';

// Asks for people and teams: those that are chosen, each with a button that removes it, and a field that finds more. What
// stands in the field counts too, so a login can be typed, also while GitHub does not answer. The buttons ask for the same
// page with what is chosen, and save nothing; people.js does without loading it.

/** A setting that names people and teams. */
export type PeopleSetting = 'freezers' | 'approvers';
export const peopleSettings: readonly PeopleSetting[] = ['freezers', 'approvers'];

/** Its fields: the chosen ones, what is typed, and on the way to the same page the one that is removed. */
export const listOf = (name: PeopleSetting): string => `${name}_list`;
const typedOf = (name: PeopleSetting): string => `${name}_typed`;
const withoutOf = (name: PeopleSetting): string => `${name}_without`;

/** Of how many GitHub is asked who they are: as many as a setting can have. A form that has more is refused, and keeps them. */
const mostAsked = 50;

/** Whether a form has the setting: a list that is empty has no field. */
export const hasPeople = (form: URLSearchParams, name: PeopleSetting): boolean =>
  form.has(listOf(name)) || form.has(typedOf(name));

const listed = (form: URLSearchParams, name: PeopleSetting): string[] => {
  const removed = form.getAll(withoutOf(name));
  return form
    .getAll(listOf(name))
    .flatMap(linesOf)
    .filter((each) => !removed.includes(each));
};
const typedIn = (form: URLSearchParams, name: PeopleSetting): string => form.get(typedOf(name))?.trim() ?? '';

/** All that a form names: what is chosen, and what is typed, with commas between. */
export const peopleIn = (form: URLSearchParams, name: PeopleSetting): string[] =>
  [
    ...new Set([
      ...listed(form, name),
      ...typedIn(form, name)
        .split(',')
        .map((each) => each.trim()),
    ]),
  ].filter((each) => each !== '');

/** What a chooser shows. @property silence why GitHub does not say who they are; null if it does. */
export type ChosenPeople = { chosen: Face[]; typed: string; matches: Face[]; silence: string | null };

/** Where they are looked for: the repository of the settings, else one that most people of the owner see. */
export type ChooserPlace = RolePlace & { repository?: string };

async function repositoryOf({ db }: Deps, { account, repository }: ChooserPlace): Promise<string | null> {
  if (repository !== undefined) return repository;
  const where = { accountId: account.id, installationId: { not: null }, archived: false };
  const orderBy = [{ private: 'asc' }, { id: 'asc' }] as const;
  return (await db.repository.findFirst({ where, orderBy: [...orderBy] }))?.name ?? null;
}

/** Reads it. @param stored the setting. @param sent the form that was refused, or that searches; null for a new one. */
export async function loadPeople(
  deps: Deps,
  place: ChooserPlace,
  name: PeopleSetting,
  stored: string[],
  sent: URLSearchParams | null,
): Promise<ChosenPeople> {
  const handles = sent ? listed(sent, name) : stored;
  const typed = sent ? typedIn(sent, name) : '';
  const repository = typed === '' ? null : await repositoryOf(deps, place);
  const asked = place.installation.suspendedAt
    ? null
    : await findPeople(deps, { ...place, repository }, handles.slice(0, mostAsked), typed).catch(
        refusedIf('unavailable', 'too-many-requests'),
      );
  const found = asked instanceof Refusal ? null : asked;
  return {
    chosen: handles.map(
      (handle) => found?.faces.get(handle.toLowerCase()) ?? { handle, name: null, picture: null },
    ),
    typed,
    matches: found?.matches ?? [],
    silence: asked instanceof Refusal && typed !== '' ? asked.message : null,
  };
}

/** @param problem with one of them, if the form was refused. */
export function peopleChooser(
  name: PeopleSetting,
  label: string,
  { chosen, typed, matches, silence }: ChosenPeople,
  { hint, problem }: { hint: Html | string; problem: string | undefined },
): Html {
  const found =
    matches.length > 0
      ? html`<ul aria-label="Found">
          ${matches.map((each) => person(name, each, false))}
        </ul>`
      : html`<p class="muted">GitHub finds nobody else for “${typed}”.</p>`;
  return html`<div class="people" data-people="${name}">
    <div class="find">
      ${textField({
        ...{ name: typedOf(name), id: listOf(name), label, value: typed, hint },
        problems: problem ? new Map([[typedOf(name), problem]]) : noProblems,
        attributes: html`placeholder="Login, name or team" maxlength="250" spellcheck="false"
        autocapitalize="none" autocomplete="off"`,
      })}
      <button type="submit" formmethod="get" formnovalidate class="quiet" data-only-without-scripts>
        Search
      </button>
    </div>
    <div class="matches" role="status">
      ${silence ? html`<p class="muted">${silence} You can type logins and teams, with commas between, and save.</p>` : typed === '' ? '' : found}
    </div>
    <ul class="chosen" aria-label="Chosen">
      ${chosen.map((each) => person(name, each, true))}
    </ul>
  </div>`;
}

/** One of those that are chosen, or that a tick chooses. */
const person = (name: PeopleSetting, { handle, name: called, picture }: Face, isChosen: boolean): Html =>
  html`<li>
    <label
      >${
        isChosen
          ? hiddenField(listOf(name), handle)
          : html`<input type="checkbox" name="${listOf(name)}" value="${handle}" />`
      }
      ${
        picture
          ? html`<img src="${picture}" alt="" width="24" height="24" loading="lazy" decoding="async" />`
          : html`<span class="no-picture"></span>`
      }
      <span
        ><bdi>${handle}</bdi>
        ${called && !handle.endsWith(called) ? html`<bdi class="muted">${called}</bdi>` : ''}</span
      ></label
    >
    <button
      type="submit"
      formmethod="get"
      formnovalidate
      name="${withoutOf(name)}"
      value="${handle}"
      class="quiet"
      aria-label="Remove ${handle}"
      ${isChosen ? '' : html`hidden`}
    >
      ×
    </button>
  </li>`;

/**
 * The form of a page that was asked for by one of these buttons; null for a page that was opened, also by a link elsewhere:
 * such a link would choose people whom the next press saves.
 */
export function searchedForm({ context, deps }: Pick<Visit, 'context' | 'deps'>): URLSearchParams | null {
  const query = new URL(context.req.url).searchParams;
  return query.get('do') === 'settings' && isFromOwnPage(context, deps) ? query : null;
}
