import { html } from 'hono/html';
import type { RepositoryState } from '../../explanations/repository-states.ts';
import { badField, chips, type FormProblems, hiddenField, textArea, textField } from '../form.ts';
import type { Html } from '../html.ts';

/** How many of the repositories that match the filter have a box, and how many of the selected ones. */
const mostListed = 100;
/** So many repositories are seen at a glance, without a filter. */
const mostAtAGlance = 12;

export type Choice = {
  /** `all`: every repository of the owner, including future ones. `ticked`: the selected ones. */
  which: 'all' | 'ticked';
  /** Names and patterns. */
  selected: string[];
  repositories: RepositoryState[];
  /** Whether the viewer may freeze every repository of the owner. */
  mayAll: boolean;
  /** A part of the names of the repositories to list, or empty. */
  filter: string;
  /** The name of the field with typed names and patterns. */
  typed: 'names' | 'include';
};

const namesSome = (form: URLSearchParams): boolean =>
  ['repository', 'names', 'include'].some((field) => form.getAll(field).some((text) => text.trim() !== ''));

/** Whether a form means all repositories. One that selects some beside that is asked again, and keeps them. */
export const meansAll = (form: URLSearchParams): boolean => form.get('which') === 'all' && !namesSome(form);

/** @throws Refusal invalid if a form asks for all repositories and selects some: one of them is a mistake. */
export function assertOneChoice(form: URLSearchParams): void {
  if (form.get('which') === 'all' && namesSome(form))
    throw badField(
      'repository',
      'You chose all repositories, and selected some. Now the selected ones are chosen. Check the preview before you go on.',
    );
}

/**
 * Asks which repositories to freeze: all, or those with a tick, and names and patterns that are typed. What is selected
 * and has no box is typed, so that a list of any length stays short and nothing is lost when it is filtered. With scripts
 * the list follows the filter while one types.
 */
export function repositoryChooser(
  { which, selected, repositories, filter, mayAll, typed: typedName }: Choice,
  problems: FormProblems,
): Html {
  const keys = new Set(selected.map((name) => name.toLowerCase()));
  const isSelected = ({ name }: RepositoryState) => keys.has(name.toLowerCase());
  const ticked = repositories.filter(isSelected).slice(0, mostListed);
  const matching = repositories.filter(
    (each) => !isSelected(each) && each.name.toLowerCase().includes(filter.toLowerCase()),
  );
  const boxed = new Set(ticked.map(({ name }) => name.toLowerCase()));
  const typed = selected.filter((name) => !boxed.has(name.toLowerCase()));
  const more = matching.length - mostListed;
  // A list that is whole goes by names, so that the next box stays where somebody is about to press.
  const boxes =
    more > 0
      ? [...ticked, ...matching.slice(0, mostListed)]
      : [...ticked, ...matching].toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
  const pattern = `*${filter}*`;
  const count =
    selected.length === 0 ? 'Choose repositories' : `${selected.length} of ${repositories.length} selected`;
  return html`${
      mayAll
        ? chips(
            'radio',
            { name: 'which', label: 'Repositories', problems },
            [
              { value: 'all', label: `All ${repositories.length}` },
              { value: 'ticked', label: 'Selected repositories' },
            ],
            [which],
          )
        : hiddenField('which', 'ticked')
    }
    <details
      class="chooser"
      ${which === 'ticked' || problems.has('repository') || problems.has(typedName) ? html`open` : ''}
    >
      <summary>${count}</summary>
      ${problems.has('repository') ? html`<p class="problem"><strong>${problems.get('repository')}</strong></p>` : ''}
      ${repositories.length > mostAtAGlance ? filterField(filter, mayAll) : ''}
      <div class="matching">
        ${
          mayAll && filter !== '' && matching.length > 1 && !keys.has(pattern.toLowerCase())
            ? html`<label class="choice"
                ><input type="checkbox" name="${typedName}" value="${pattern}" />All ${matching.length} whose
                names contain “${filter}”, and those to come</label
              >`
            : ''
        }
        <label class="choice" data-with-scripts hidden
          ><input type="checkbox" data-ticks-all />Select all that are listed</label
        >
        <fieldset class="ticks">
          <legend class="said">Repositories to freeze</legend>
          ${boxes.map((each) => box(each, isSelected(each)))}
        </fieldset>
        ${more > 0 ? html`<p class="muted">and ${more.toLocaleString('en')} more: filter</p>` : ''}
      </div>
      <details ${typed.length > 0 || problems.has(typedName) ? html`open` : ''}>
        <summary>Names and patterns</summary>
        ${textArea({
          name: typedName,
          label: 'Names and patterns',
          value: typed.join('\n'),
          problems,
          hint: html`One on each line, such as <code>api-*</code>. They are frozen beside those with a tick.`,
          attributes: html`spellcheck="false" autocapitalize="none"`,
        })}
      </details>
    </details>`;
}

/** Shows the form again, with what is filled in. Only a person who may freeze all can send it without a repository. */
const filterField = (filter: string, mayAll: boolean): Html =>
  html`<div class="find">
    ${textField({ name: 'filter', label: 'Filter', value: filter, attributes: html`spellcheck="false" autocapitalize="none"` })}
    <button
      type="submit"
      name="step"
      value="show"
      class="quiet"
      formnovalidate
      data-only-without-scripts
      ${mayAll ? '' : html`formmethod="get"`}
    >
      Show
    </button>
  </div>`;

const box = ({ name, isFreezable }: RepositoryState, isTicked: boolean): Html =>
  html`<label
    ><input
      type="checkbox"
      name="repository"
      value="${name}"
      ${isTicked ? html`checked` : ''}
      ${isFreezable ? '' : html`disabled`}
    />${name}${isFreezable ? '' : ' (freezes are switched off)'}</label
  >`;
