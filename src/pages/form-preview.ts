import { html } from 'hono/html';
import { hidden } from './form.ts';
import type { Html } from './layout.ts';
import { onceField } from './send-once.ts';

/** What a form would do, with what its button says, and the digest of the fields that were seen; null: not looked yet. */
export type FormPreview = { shown: Html; act: string; digest: string } | null;

/**
 * The end of a form that shows what it would do before it does it.
 * @param step what the button that does it sends as `step`.
 * @param back where one goes who does not want it.
 */
export const previewBeforeDoing = (preview: FormPreview, step: string, back: string): Html =>
  preview
    ? html`<section class="card preview" aria-labelledby="preview">
        <h2 class="first" id="preview">What it would do</h2>
        ${preview.shown} ${hidden('previewed', preview.digest)} ${onceField()}
        <div class="actions">
          <button type="submit" name="step" value="${step}">${preview.act}</button>
          <button type="submit" name="step" value="preview" class="quiet">Look again</button>
        </div>
      </section>`
    : html`<div class="actions">
        <button type="submit" name="step" value="preview">Preview</button>
        <a class="button quiet" href="${back}">Cancel</a>
      </div>`;

/** Whether a form asks to do what was seen. */
export const doesWhatWasSeen = (form: URLSearchParams, step: string, digest: string): boolean =>
  form.get('step') === step && form.get('previewed') === digest;
