import { createHash, randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { readUuid } from '../api/fields.ts';
import { conflict, invalid, notFound, type Problem, Refusal } from '../errors.ts';
import { assetUrl } from './assets.ts';
import type { Html } from './html.ts';

// The parts of a form. Each works with the keyboard alone and without scripts, and shows an error next to its field.

/** The errors of a submitted form by field name; `''` stands for the whole form. */
export type FormProblems = ReadonlyMap<string, string>;

export const noProblems: FormProblems = new Map();

/**
 * The problems that a use case found, by field of the form.
 * @param fields the form field for each API field that has a different name, such as `start` or `recurrence.until`.
 * @throws the error itself, if it does not refuse the content of the form.
 */
export function formProblemsOf(error: unknown, fields: Record<string, string> = {}): FormProblems {
  const isAboutForm =
    error instanceof Refusal && ['invalid', 'conflict', 'start-already-passed'].includes(error.code);
  if (!isAboutForm) throw error;
  if (error.problems.length === 0) return new Map([['', error.message]]);
  const problems = new Map<string, string>();
  for (const { path, message } of error.problems) {
    const [, field = '', part = ''] = path.map(String);
    const name = fields[`${field}.${part}`] ?? fields[field] ?? field;
    if (problems.get(name)?.includes(message)) continue;
    problems.set(name, [problems.get(name) ?? [], message].flat().join(' '));
  }
  return problems;
}

/** A problem with a field that the form requires and the API does not, or that only the form has. */
export const problemOf = (field: string, message: string): Problem => ({
  path: ['body', field],
  message,
  type: 'value_error',
});
export const badField = (field: string, message: string): Refusal => invalid([problemOf(field, message)]);

/** The text of a field, without spaces around it. */
export const trimmedField = (form: URLSearchParams, field: string): string => form.get(field)?.trim() ?? '';

/** The id in a field. @throws Refusal not-found if it is none: a form of ours has one. */
export function idField(form: URLSearchParams, field: string): string {
  const id = readUuid(trimmedField(form, field));
  if (id === null) throw notFound(`The form names no ${field}. Open the page again.`);
  return id;
}

/** The text of a field. @throws Refusal invalid with the message if there is none. */
export function requiredText(form: URLSearchParams, field: string, message: string): string {
  const text = trimmedField(form, field);
  if (text === '') throw badField(field, message);
  return text;
}

/** What the fields of a form show: what was typed into one that was refused, else what is stored. */
export type Typed = {
  /** The text of a field, or the choice of radio buttons. */
  text(name: string, stored?: string): string;
  /** The boxes that are ticked. */
  all(name: string, stored?: string[]): string[];
};

/** @param sent the form that was refused; null for one that was not sent. */
export const typedIn = (sent: URLSearchParams | null): Typed => ({
  text: (name, stored = '') => sent?.get(name) ?? stored,
  all: (name, stored = []) => (sent ? sent.getAll(name) : stored),
});

/** The form that was refused, if it is this one of a page with several. @param does its `do`. */
export const ifSent = (sent: URLSearchParams | null, does: string): URLSearchParams | null =>
  sent?.get('do') === does ? sent : null;

/**
 * The errors of the whole form and of fields that it does not show. They have the focus, before the first field.
 * @param shown the fields that it shows.
 */
export function formProblem(problems: FormProblems, shown: string[]): Html {
  const rest = [...problems].filter(([name]) => !shown.includes(name));
  if (problems.size === 0) return html``;
  const first = shown.find((name) => problems.has(name));
  return html`<div class="notice wrong" role="alert" tabindex="-1" autofocus>
    <strong>Nothing was changed.</strong>
    ${rest.map(([, text]) => html`${text} `)}
    ${first ? html`<a href="#${first}">Correct the fields below.</a>` : ''}
  </div>`;
}

export type LabelledField = {
  name: string;
  /** Needed if several forms of a page have a field of this name. */
  id?: string;
  label: string;
  value?: string;
  hint?: Html | string;
  problems?: FormProblems;
  /** Attributes of the element itself, such as `html\`required maxlength="255"\``. */
  attributes?: Html;
};

/** A field with its label, hint and error. @param control the input element. */
function labelled(field: LabelledField, control: (attributes: Html) => Html): Html {
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
export const textField = (field: LabelledField, type = 'text'): Html =>
  labelled(field, (attributes) => html`<input type="${type}" ${attributes} value="${field.value ?? ''}" />`);

/** Lines of text. */
export const textArea = (field: LabelledField): Html =>
  labelled(
    field,
    (attributes) => html`<textarea rows="3" ${attributes}>${'\n'}${field.value ?? ''}</textarea>`,
  );

type Choice = { value: string; label: Html | string };

/**
 * Choices as chips: one for `radio`, any number for `checkbox`.
 * @param chosen the selected values. If the field has the focus, the first of them has.
 */
export function chips(
  type: 'radio' | 'checkbox',
  {
    name,
    label,
    hint,
    problems = noProblems,
    hasFocus = false,
  }: Omit<LabelledField, 'value' | 'attributes'> & { hasFocus?: boolean },
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
              ${hasFocus && value === chosen[0] ? html`autofocus` : ''}
            />${text}</label
          >`,
      )}
    </div>
    ${hint || problem ? html`<p class="muted" id="${name}-hint">${problem ? html`<strong>${problem}</strong> ` : ''}${hint ?? ''}</p>` : ''}
  </fieldset>`;
}

export const option = (value: string, name: string, isChosen: boolean): Html =>
  html`<option value="${value}" ${isChosen ? html`selected` : ''}>${name}</option>`;

/** A filter by one of some values. @param all what choosing none is called. @param names of the values. */
export const filterChoice = (
  name: string,
  label: string,
  all: string,
  names: Record<string, string>,
  chosen: string | null,
): Html =>
  html`<select name="${name}" aria-label="${label}">
    ${option('', all, chosen === null)}
    ${Object.entries(names).map(([value, text]) => option(value, text, value === chosen))}
  </select>`;

/** A filter by a name. */
export const filterField = (name: string, label: string, value: string | null, attributes: Html): Html =>
  html`<input
    name="${name}"
    value="${value ?? ''}"
    placeholder="${label}"
    aria-label="${label}"
    ${attributes}
    spellcheck="false"
    autocapitalize="none"
  />`;

/** The relative URL of the same page with another query: what is null is left out. */
export function queryLink(query: Record<string, string | number | null>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null) given.set(name, String(value));
  return `?${given}`;
}

/** Carries the version of the freeze or plan that the person saw. */
export const versionField = (version: string): Html => hiddenField('version', version);

/**
 * Checks that nobody changed the freeze or plan since the person opened its form. So a form cannot undo another
 * person's change, and a second tap changes nothing.
 * @throws Refusal conflict.
 */
export function assertFresh(
  form: URLSearchParams,
  version: string,
  what: 'this freeze' | 'this plan' | 'these settings' | 'this webhook',
): void {
  if (form.get('version') !== version)
    throw conflict(
      `Somebody changed ${what} after you opened the page. Check its current state, then try again.`,
    );
}

/** Identifies one display of a form, so that its change is made once. */
export const onceField = (): Html => hiddenField('key', randomUUID());

/** A short digest that recognizes the same content again. */
export const digestOf = (content: unknown): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);

export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/**
 * A button that opens a form, so that a change takes two steps.
 * @param name the label of the button that opens the form. @param fields the fields of the form.
 * @param act the label of the button that sends it.
 * @param kind whether it ends, deletes, denies or revokes something, which is outlined in red.
 * @param isOpen whether the form is shown at once, such as one that was refused.
 */
export const confirmation = (
  name: string,
  action: string,
  fields: Html,
  act: string,
  kind: 'ends' | 'confirms' = 'ends',
  isOpen = false,
): Html =>
  html`<details class="confirm" ${isOpen ? html`open` : ''}>
    <summary class="button ${kind === 'ends' ? 'danger' : 'quiet'}">${name}</summary>
    <form class="card form" method="post" action="${action}">
      ${fields}
      <button type="submit" ${kind === 'ends' ? html`class="danger"` : ''}>${act}</button>
    </form>
  </details>`;

/**
 * What a form would do, the label of its button, and the fields that were previewed. Null before the first preview.
 * @property below what stands below the button. @property key identifies the preview, so that its change is made once.
 * @property changed the labels of the fields that changed after the last preview, if the button was pressed all the same.
 */
export type FormPreview = {
  shown: Html;
  below: Html | '';
  act: string;
  previewed: string;
  key: string;
  changed: string[];
} | null;

/** The fields of a form, as its preview remembers them: a digest of each, such as `reason=Xw… zone=5d…`. */
export const previewedOf = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${digestOf(value)}`)
    .join(' ');

/**
 * The part of a form that stands beside its fields: a preview, and the button that makes the change. Before the first
 * preview, which live-form.js asks for by itself, the button that shows one.
 * @param step the value of `step` that the button sends to make the change.
 * @param back where Cancel leads. @param always what stands there before the first preview too.
 */
export const previewBeforeDoing = (
  preview: FormPreview,
  step: string,
  back: string,
  always: Html | '' = '',
): Html =>
  html`<section class="card preview" aria-labelledby="preview">
      <h2 class="first" id="preview">Preview</h2>
      ${
        preview
          ? html`${preview.changed.length > 0 ? changedNotice(preview.changed, preview.act) : ''}
              ${preview.shown} ${always} ${hiddenField('previewed', preview.previewed)}
              ${hiddenField('key', preview.key)}
              <div class="actions in-reach">
                <button
                  type="submit"
                  name="step"
                  value="${step}"
                  ${step === 'freeze' ? html`class="freeze"` : ''}
                  autofocus
                >
                  ${preview.act}
                </button>
                <button type="submit" name="step" value="preview" class="quiet" data-only-without-scripts>
                  Preview again
                </button>
                <a class="button quiet" href="${back}">Cancel</a>
              </div>
              ${preview.below}`
          : html`<p class="muted">
                See first what it does. Nothing changes before you choose the button there.
              </p>
              ${always}
              <div class="actions in-reach">
                <button type="submit" name="step" value="preview" class="next">Preview</button>
                <a class="button quiet" href="${back}">Cancel</a>
              </div>`
      }
    </section>
    <script type="module" src="${assetUrl('live-form.js')}"></script>`;

const changedNotice = (changed: string[], act: string): Html =>
  html`<p class="notice wrong" role="alert">
    <strong>Nothing was changed yet.</strong> You changed ${changed.join(', ')} after the preview. Check this
    preview, then choose <strong>${act}</strong> again.
  </p>`;
