import { html } from 'hono/html';
import { digestOf, hidden, onceField } from './form.ts';
import type { Html } from './layout.ts';

/**
 * What a form would do, the label of its button, and the fields that were previewed. Null before the first preview.
 * @property changed the labels of the fields that changed after the last preview, if the button was pressed all the same.
 */
export type FormPreview = { shown: Html; act: string; previewed: string; changed: string[] } | null;

/** The fields of a form, as its preview remembers them: a digest of each, such as `reason=Xw… zone=5d…`. */
export const previewedOf = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${digestOf(value)}`)
    .join(' ');

/**
 * The last part of a form that has a preview before it makes the change.
 * @param step the value of `step` that the button sends to make the change.
 * @param back where Cancel leads.
 */
export const previewBeforeDoing = (preview: FormPreview, step: string, back: string): Html =>
  preview
    ? html`<section class="card preview" aria-labelledby="preview">
        <h2 class="first" id="preview">Preview</h2>
        ${preview.changed.length > 0 ? changedNotice(preview.changed, preview.act) : ''} ${preview.shown}
        ${hidden('previewed', preview.previewed)} ${onceField()}
        <div class="actions">
          <button type="submit" name="step" value="${step}" autofocus>${preview.act}</button>
          <button type="submit" name="step" value="preview" class="quiet">Preview again</button>
        </div>
      </section>`
    : html`<div class="actions">
        <button type="submit" name="step" value="preview">Preview</button>
        <a class="button quiet" href="${back}">Cancel</a>
      </div>`;

const changedNotice = (changed: string[], act: string): Html =>
  html`<p class="notice wrong" role="alert">
    <strong>Nothing was changed yet.</strong> You changed ${changed.join(', ')} after the preview. Check this
    preview, then choose <strong>${act}</strong> again.
  </p>`;

/**
 * Makes the change of a form if a preview showed the same fields before; else shows a preview.
 * @param step the value of `step` that asks for the change. @param labels the label of each field.
 */
export async function previewFirst<Fields extends object>(
  form: URLSearchParams,
  { step, fields, labels }: { step: string; fields: Fields; labels: Record<keyof Fields, string> },
  change: () => Promise<string>,
  preview: () => Promise<{ shown: Html; act: string }>,
  show: (preview: FormPreview) => Response | Promise<Response>,
): Promise<string | Response> {
  const previewed = previewedOf(fields);
  const isWanted = form.get('step') === step;
  if (isWanted && form.get('previewed') === previewed) return change();
  const before = new Set(form.get('previewed')?.split(' '));
  const changed = previewed
    .split(' ')
    .filter((field) => isWanted && !before.has(field))
    .map((field) => labels[field.split('=')[0] as keyof Fields]);
  return show({ ...(await preview()), previewed, changed: [...new Set(changed)] });
}
