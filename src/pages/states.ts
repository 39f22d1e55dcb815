import { html } from 'hono/html';
import { icons } from './icons.ts';
import type { Html } from './html.ts';

/** The language of states: each has one word, one colour and one icon, on every page. The colours are in states.css. */
export const states = {
  frozen: { word: 'Frozen', tone: 'held', icon: 'lock' },
  blocked: { word: 'Blocked', tone: 'held', icon: 'blocked' },
  waiting: { word: 'Waiting', tone: 'waiting', icon: 'clock' },
  scheduled: { word: 'Scheduled', tone: 'scheduled', icon: 'calendar' },
  free: { word: 'Free', tone: 'free', icon: 'check-circle' },
  exempt: { word: 'Exempt', tone: 'free', icon: 'unlock' },
  notEnforced: { word: 'Not enforced', tone: 'leaking', icon: 'alert' },
  unknown: { word: 'Unknown', tone: 'past', icon: 'question' },
  merged: { word: 'Merged', tone: 'merged', icon: 'git-merge' },
  ended: { word: 'Ended', tone: 'past', icon: 'circle-slash' },
} as const;
export type State = keyof typeof states;

/** Those that have the icon of another state of their colour without a class of their own. */
const special: ReadonlySet<State> = new Set(['blocked', 'exempt', 'unknown', 'ended']);

/** A state as a word with its colour and icon. @param word if the page says more than the word, such as `3 frozen`. */
export const badge = (state: State, word: Html | string = states[state].word): Html =>
  html`<span class="badge ${states[state].tone}${special.has(state) ? ` ${state}` : ''}">${word}</span>`;

/** An icon beside a word that says the same. */
export const icon = (name: keyof typeof icons): Html =>
  html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d="${icons[name]}" />
  </svg>`;

/**
 * What is so, before all else, in one line that can be read from two metres: `acme is frozen until Fri 27 Nov, 18:00`,
 * and below it `27 blocked · 4 not enforced`.
 * @param said the sentence: the heading of the page, unless `isHeading` is false. @param counts facts of a few words.
 * @param actions the buttons.
 */
export const stateLine = (
  state: State,
  said: Html | string,
  {
    counts = [],
    actions = '',
    isHeading = true,
  }: { counts?: (Html | string)[]; actions?: Html | ''; isHeading?: boolean } = {},
): Html =>
  html`<div class="state-line ${states[state].tone}">
    ${icon(states[state].icon)}
    ${isHeading ? html`<h1>${said}</h1>` : html`<p class="said-first">${said}</p>`} ${actions}
    ${counts.length > 0 ? html`<p class="counts">${counts.map((each) => html`<span>${each}</span> `)}</p>` : ''}
  </div>`;
