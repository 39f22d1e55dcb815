import { html } from 'hono/html';
import type { Html } from '../layout.ts';

/** One step and its state. @param otherwise the badge of a step that is not done. */
export const step = (isDone: boolean, title: string, content: Html, otherwise = 'To do'): Html =>
  html`<li class="card">
    <h2 class="first">
      <span class="badge ${isDone ? 'free' : 'past'}">${isDone ? 'Done' : otherwise}</span> ${title}
    </h2>
    ${content}
  </li>`;
