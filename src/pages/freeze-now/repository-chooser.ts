import { html } from 'hono/html';
import type { RepositoryState } from '../../explanations/repository-states.ts';
import { chips, type FormProblems, hidden, textArea, textField } from '../form.ts';
import type { Html } from '../layout.ts';

/** How many of the repositories that match the filter have a box, and how many of the selected ones. */
const mostListed = 100;
/** So many repositories are seen at a glance, without a filter. */
const mostAtAGlance = 12;

type Chooser = {
  which: 'all' | 'ticked';
  /** The names and patterns that are selected. */
  selected: string[];
  all: RepositoryState[];
  /** A part of the names to list, or empty. */
  filter: string;
  /** Whether the viewer may freeze every repository of the owner. */
  mayAll: boolean;
  problems: FormProblems;
};

/**
 * Asks which repositories to freeze: all, or those with a tick, and names and patterns that are typed. What is selected
 * and has no box is typed, so that a list of any length stays short and nothing is lost when it is filtered.
 */
export function repositoryChooser({ which, selected, all, filter, mayAll, problems }: Chooser): Html {
  const choices = all.filter(({ archived }) => !archived);
  const keys = new Set(selected.map((name) => name.toLowerCase()));
  const isSelected = ({ name }: RepositoryState) => keys.has(name.toLowerCase());
  const ticked = choices.filter(isSelected).slice(0, mostListed);
  const matching = choices.filter(
    (each) => !isSelected(each) && each.name.toLowerCase().includes(filter.toLowerCase()),
  );
  const boxed = new Set(ticked.map(({ name }) => name.toLowerCase()));
  const typed = selected.filter((name) => !boxed.has(name.toLowerCase()));
  const more = matching.length - mostListed;
  const count =
    selected.length === 0 ? 'Choose repositories' : `${selected.length} of ${choices.length} selected`;
  return html`${
      mayAll
        ? chips(
            'radio',
            { name: 'which', label: 'Repositories', problems },
            [
              { value: 'all', label: `All ${choices.length}` },
              { value: 'ticked', label: 'Selected repositories' },
            ],
            [which],
          )
        : hidden('which', 'ticked')
    }
    <details ${which === 'ticked' || problems.has('repository') ? html`open` : ''}>
      <summary>${count}</summary>
      ${problems.has('repository') ? html`<p class="problem"><strong>${problems.get('repository')}</strong></p>` : ''}
      ${choices.length > mostAtAGlance ? filterField(filter, mayAll) : ''}
      <fieldset class="ticks">
        <legend class="said">Repositories to freeze</legend>
        ${ticked.map((each) => box(each, true))}
        ${matching.slice(0, mostListed).map((each) => box(each, false))}
      </fieldset>
      ${more > 0 ? html`<p class="muted">and ${more.toLocaleString('en')} more: filter</p>` : ''}
      <details ${typed.length > 0 ? html`open` : ''}>
        <summary>Names and patterns</summary>
        ${textArea({
          name: 'names',
          label: 'Names and patterns',
          value: typed.join('\n'),
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
