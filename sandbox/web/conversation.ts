import { html, raw } from 'hono/html';
import { Marked } from 'marked';
import { mayComment } from '../actions/comments.ts';
import type { Account, PullRequest } from '../state/model.ts';
import type { Html } from './web-page.ts';

const escaped = (text: string): string => String(html`${text}`);

/** Markdown as on GitHub, but HTML is shown as text, pictures as their names, and only links to websites are links. */
const markdown = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => (text.trim().startsWith('<!--') ? '' : escaped(text)),
    image: ({ text }) => escaped(text),
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      return /^https?:\/\//.test(href) ? `<a href="${escaped(href)}">${text}</a>` : text;
    },
  },
});

/** The comments on a pull request, the oldest first. */
export const conversation = ({ comments }: PullRequest): Html =>
  html`${comments.map(
    ({ author, body, createdAt }) =>
      html`<article class="box" aria-label="Comment by ${author.login}">
        <p class="muted"><strong>${author.login}</strong> commented at ${shownTime(createdAt)}</p>
        <div>${raw(markdown.parse(body, { async: false }))}</div>
      </article>`,
  )}`;

const shownTime = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/**
 * The box for a new comment. The form posts to `{page}/comment`.
 * @param person who looks; null: not signed in.
 */
export function commentBox(pr: PullRequest, person: Account | null, page: string): Html {
  if (!person)
    return html`<p class="muted">
      <a href="/login?return_to=${encodeURIComponent(page)}">Sign in to comment</a>
    </p>`;
  if (!mayComment(pr, person)) return html`<p class="muted">You can't comment on this pull request.</p>`;
  return html`<form method="post" action="${page}/comment">
    <label for="comment">Add a comment</label>
    <textarea id="comment" name="body" rows="4" required></textarea>
    <button class="go">Comment</button>
  </form>`;
}
