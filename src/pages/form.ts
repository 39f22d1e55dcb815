import { html } from 'hono/html';
import { conflict, Refusal } from '../errors.ts';
import type { Html } from './layout.ts';

// What forms are made of. Each works by the keyboard alone and without a script, and says beside a field what is wrong.

/** What is wrong with a form that was sent, by the names of its fields; `''` for the form as a whole. */
export type FormProblems = ReadonlyMap<string, string>;

export const noProblems: FormProblems = new Map();

/**
 * What a use case found wrong, by fields of the form.
 * @param fields the form's field for a field of the API, where its name is another one.
 * @throws the error, where it is no refusal of what was sent.
 */
export function problemsOf(error: unknown, fields: Record<string, string> = {}): FormProblems {
  const isAboutForm =
    error instanceof Refusal && ['invalid', 'conflict', 'start-already-passed'].includes(error.code);
  if (!isAboutForm) throw error;
  if (error.problems.length === 0) return new Map([['', error.message]]);
  const problems = new Map<string, string>();
  for (const { path, message } of error.problems) {
    const [, field = ''] = path.map(String);
    const name = fields[field] ?? field;
    problems.set(name, [problems.get(name) ?? [], message].flat().join(' '));
  }
  return problems;
}

/** What is wrong with a form as a whole, or with fields that it does not show. @param shown the names that it does. */
export function formProblem(problems: FormProblems, shown: string[]): Html {
  const rest = [...problems].filter(([name]) => !shown.includes(name));
  if (problems.size === 0) return html``;
  return html`<div class="notice wrong" role="alert">
    <strong>Nothing was changed.</strong>
    ${rest.length > 0 ? rest.map(([, text]) => html`${text} `) : 'Look at the fields below.'}
  </div>`;
}

export type Field = {
  name: string;
  /** Where several forms of a page have a field of this name. */
  id?: string;
  label: string;
  value?: string;
  hint?: Html | string;
  problems?: FormProblems;
  /** Attributes of the element itself, such as `html\`required maxlength="255"\``. */
  attributes?: Html;
};

/** A field with a label, a hint and what is wrong with it. @param control what to type into. */
function labelled(field: Field, control: (attributes: Html) => Html): Html {
  const { name, id = name, label, hint, problems = noProblems, attributes = html`` } = field;
  const problem = problems.get(name);
  const described = [...(hint ? [`${id}-hint`] : []), ...(problem ? [`${id}-problem`] : [])];
  const shared = html`id="${id}" name="${name}"
  ${described.length > 0 ? html`aria-describedby="${described.join(' ')}"` : ''}
  ${problem ? html`aria-invalid="true"` : ''} ${attributes}`;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${control(shared)} ${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : ''}
    ${problem ? html`<p class="problem" id="${id}-problem">${problem}</p>` : ''}
  </div>`;
}

/** One line of text. @param type of the input: `text`, `datetime-local`, `date`, `number`, … */
export const textField = (field: Field, type = 'text'): Html =>
  labelled(field, (attributes) => html`<input type="${type}" ${attributes} value="${field.value ?? ''}" />`);

/** Lines of text. */
export const textArea = (field: Field): Html =>
  labelled(
    field,
    (attributes) => html`<textarea rows="3" ${attributes}>${'\n'}${field.value ?? ''}</textarea>`,
  );

export type Choice = { value: string; label: Html | string };

/**
 * Choices as chips: of `radio` one, of `checkbox` any number.
 * @param chosen the values of those that are.
 */
export function chips(
  type: 'radio' | 'checkbox',
  { name, label, hint, problems = noProblems }: Omit<Field, 'value' | 'attributes'>,
  choices: Choice[],
  chosen: string[],
): Html {
  const problem = problems.get(name);
  return html`<fieldset ${hint || problem ? html`aria-describedby="${name}-hint"` : ''}>
    <legend>${label}</legend>
    <div class="chips">
      ${choices.map(
        ({ value, label: text }) =>
          html`<label
            ><input
              type="${type}"
              name="${name}"
              value="${value}"
              ${chosen.includes(value) ? html`checked` : ''}
            />${text}</label
          >`,
      )}
    </div>
    ${hint || problem ? html`<p class="muted" id="${name}-hint">${problem ? html`<strong>${problem}</strong> ` : ''}${hint ?? ''}</p>` : ''}
  </fieldset>`;
}

/** Tells as what somebody saw what the form changes. */
export const versionField = (version: string): Html => hidden('version', version);

/**
 * Holds for a form that shows what it changes as it is now: who would take back what somebody else changed is told so,
 * and a second tap changes nothing more.
 * @throws Refusal conflict.
 */
export function assertFresh(form: URLSearchParams, version: string, what: 'freeze' | 'plan'): void {
  if (form.get('version') !== version)
    throw conflict(`Somebody changed this ${what} since you opened the page. Look at it as it is now.`);
}

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/**
 * Asks once before something is done that cannot be taken back: a button that opens the form.
 * @param name of the button that opens it; @param fields what the form asks for; @param act of the one that sends it.
 */
export const confirmation = (name: string, action: string, fields: Html, act: string): Html =>
  html`<details class="confirm">
    <summary class="button quiet">${name}</summary>
    <form class="card form" method="post" action="${action}">
      ${fields}
      <button type="submit">${act}</button>
    </form>
  </details>`;
