import { html } from 'hono/html';
import { hidden } from './form.ts';
import type { Html } from './layout.ts';
import { onceField } from './send-once.ts';

/** What a form would do, the label of its button, and the digest of the previewed fields. Null before the first preview. */
export type FormPreview = { shown: Html; act: string; digest: string } | null;

/**
 * The last part of a form that has a preview before it makes the change.
 * @param step the value of `step` that the button sends to make the change.
 * @param back where Cancel leads.
 */
export const previewBeforeDoing = (preview: FormPreview, step: string, back: string): Html =>
  preview
    ? html`<section class="card preview" aria-labelledby="preview">
        <h2 class="first" id="preview">Preview</h2>
        ${preview.shown} ${hidden('previewed', preview.digest)} ${onceField()}
        <div class="actions">
          <button type="submit" name="step" value="${step}">${preview.act}</button>
          <button type="submit" name="step" value="preview" class="quiet">Preview again</button>
        </div>
      </section>`
    : html`<div class="actions">
        <button type="submit" name="step" value="preview">Preview</button>
        <a class="button quiet" href="${back}">Cancel</a>
      </div>`;

/** Whether a form asks to make the change that was previewed. */
export const doesWhatWasSeen = (form: URLSearchParams, step: string, digest: string): boolean =>
  form.get('step') === step && form.get('previewed') === digest;
