import { html } from 'hono/html';
import { createHash } from 'node:crypto';
import { hidden } from './form.ts';
import type { Html } from './layout.ts';
import { onceField } from './change.ts';

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

/** Whether a form asks to make the change that was previewed. */
export const doesWhatWasSeen = (form: URLSearchParams, step: string, fields: object): boolean =>
  form.get('step') === step && form.get('previewed') === previewedOf(fields);

/**
 * The labels of the fields that changed after the preview, if the form asks to make the change.
 * @param labels the label of each field.
 */
export function changedAfterPreview<Fields extends object>(
  form: URLSearchParams,
  step: string,
  fields: Fields,
  labels: Record<keyof Fields, string>,
): string[] {
  if (form.get('step') !== step) return [];
  const before = new Set(form.get('previewed')?.split(' '));
  const changed = previewedOf(fields)
    .split(' ')
    .filter((field) => !before.has(field))
    .map((field) => labels[field.split('=')[0] as keyof Fields]);
  return [...new Set(changed)];
}

/** A short digest that recognizes the same content again. */
export const digestOf = (said: unknown): string =>
  createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22);
