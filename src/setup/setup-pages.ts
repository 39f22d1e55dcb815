import { html } from 'hono/html';
import type { AppManifest } from '../github/app-manifest.ts';
import { type Html, layout } from '../pages/layout.ts';
import type { Wishes } from './wishes.ts';

const page = (title: string, body: Html): Html => layout({ title, body });

const alert = (problem: string | null): Html | '' =>
  problem === null ? '' : html`<p class="notice held" role="alert">${problem}</p>`;

/** Where the person cannot go on, and what to do instead. */
export const stopPage = (heading: string, text: string): Html =>
  page(
    heading,
    html`<h1>${heading}</h1>
      <p>${text}</p>`,
  );

/** Asks somebody from another machine for the code in the log. */
export const codePage = (problem: string | null): Html =>
  page(
    'Set up',
    html`<h1>Set up Holdfast</h1>
      <p>
        This service has no GitHub App yet. Who sets it up must be able to read its log: the line
        <code>no GitHub App is configured</code> has a code. It works once.
      </p>
      ${alert(problem)}
      <form class="card form" method="post" action="/setup/code">
        <label for="code">Code from the log</label>
        <input
          id="code"
          name="code"
          required
          autocomplete="one-time-code"
          spellcheck="false"
          maxlength="40"
        />
        <button type="submit">Go on</button>
      </form>`,
  );

export type SetupPage = {
  wishes: Wishes;
  problem: string | null;
  webUrl: string;
  publicUrl: string;
  warnings: string[];
  /** Where credentials may be kept; both false: nowhere. */
  places: { database: boolean; env: boolean };
};

/** The first step: whose App, its name, and where its credentials are kept. */
export function setupPage(setup: SetupPage): Html {
  const { webUrl, publicUrl, warnings, problem } = setup;
  const github = new URL(webUrl).host;
  return page(
    'Set up',
    html`<h1>Set up Holdfast</h1>
      <p>
        Holdfast works as a GitHub App of your own. ${github} makes it in one click, with the right
        permissions, and hands its credentials to this service. Sign in to ${github} in this browser first.
      </p>
      ${alert(problem)}
      <div class="card">
        <h2 class="first">Address of this service</h2>
        <p><code>${publicUrl}</code></p>
        <p class="muted">GitHub sends its events there, and people open their pages there (PUBLIC_URL).</p>
        ${warnings.map((warning) => html`<p class="notice held">${warning}</p>`)}
      </div>
      ${setup.places.database ? '' : secretKeyAdvice} ${canKeep(setup) ? setupForm(setup) : ''}`,
  );
}

const canKeep = ({ places }: SetupPage) => places.database || places.env;

const secretKeyAdvice = html`<div class="card">
  <h2 class="first">SECRET_KEY is not set</h2>
  <p>
    Credentials are kept in PostgreSQL only encrypted. Make a key, set it as <code>SECRET_KEY</code> for every
    process of Holdfast, and start again:
  </p>
  <pre tabindex="0"><code>openssl rand -hex 32</code></pre>
</div>`;

function setupForm({ wishes, webUrl, places }: SetupPage): Html {
  const github = new URL(webUrl).host;
  const radio = (owner: Wishes['owner'], label: string) =>
    html`<label class="choice">
      <input type="radio" name="owner" value="${owner}" ${wishes.owner === owner ? 'checked' : ''} />
      ${label}
    </label>`;
  return html`<form class="card form" method="post" action="/setup">
    <fieldset>
      <legend>Who shall own the App?</legend>
      ${radio('organization', 'An organization')}
      <label for="organization">Its name on ${github}</label>
      <input
        id="organization"
        name="organization"
        value="${wishes.organization}"
        maxlength="40"
        spellcheck="false"
        autocapitalize="none"
      />
      ${radio('person', 'You, for repositories of your own')}
    </fieldset>
    <label for="name">Name of the App</label>
    <input
      id="name"
      name="name"
      value="${wishes.name}"
      required
      maxlength="34"
      aria-describedby="name-hint"
    />
    <p id="name-hint" class="muted">
      No other App on ${github} may have it; “Holdfast” and your name will do.
    </p>
    ${
      places.env && places.database
        ? html`<label class="choice">
            <input type="checkbox" name="place" value="env" ${wishes.place === 'env' ? 'checked' : ''} />
            Keep the credentials in <code>.env</code> instead of the database
          </label>`
        : places.env
          ? html`<p class="muted">The credentials will be written to <code>.env</code>.</p>`
          : ''
    }
    <label class="choice">
      <input
        type="checkbox"
        name="comments"
        value="on"
        aria-describedby="comments-hint"
        ${wishes.takesCommands ? 'checked' : ''}
      />
      Let people write commands in comments on pull requests
    </label>
    <p id="comments-hint" class="muted">
      Such as <code>/holdfast freeze 2h INC-4711</code>. The App then asks for two more permissions:
      <i>Issues: read</i>, so that GitHub tells it of comments, and <i>Pull requests: write</i>, so that it
      can answer them. GitHub lets an App with the second one edit and close pull requests, too; Holdfast
      never does. You can add both later.
    </p>
    <button type="submit">Continue</button>
  </form>`;
}

/** The second step: what will be made; the button leads to GitHub. */
export const reviewPage = (manifest: AppManifest, action: string, owner: string): Html =>
  page(
    'Set up',
    html`<h1>Make the App on ${new URL(action).host}</h1>
      <p>GitHub shows its name once more, and comes back here when you choose <i>Create GitHub App</i>.</p>
      <dl class="card facts">
        <dt>Name</dt>
        <dd>${manifest.name}</dd>
        <dt>Owner</dt>
        <dd>${owner}</dd>
        <dt>Events go to</dt>
        <dd><code>${manifest.hook_attributes.url}</code></dd>
        <dt>Permissions</dt>
        <dd>
          ${Object.entries(manifest.default_permissions)
            .map(([name, level]) => `${name.replaceAll('_', ' ')}: ${level}`)
            .join(', ')}
        </dd>
      </dl>
      <form method="post" action="${action}">
        <input type="hidden" name="manifest" value="${JSON.stringify(manifest)}" />
        <button type="submit">Go on to ${new URL(action).host}</button>
        <a class="button quiet" href="/setup">Back</a>
      </form>`,
  );

export type Done = {
  name: string;
  installUrl: string;
  /** Where the credentials are, in words. */
  place: string;
  statusContext: string;
  /** Whether the service went on by itself. */
  isRunning: boolean;
};

/** The end: what is left to do at GitHub. */
export const donePage = ({ name, installUrl, place, statusContext, isRunning }: Done): Html =>
  page(
    'Connected',
    html`<h1>${name} is connected</h1>
      <p>Its credentials are kept in ${place}. Nobody can open the setup page from now on.</p>
      ${isRunning ? '' : alert('The service could not go on by itself: its log says why. Start it again.')}
      <div class="card">
        <h2 class="first">Install it on your repositories</h2>
        <p>Until then it sees none of them.</p>
        <p><a class="button" href="${installUrl}">Install ${name}</a></p>
      </div>
      <p>
        Afterwards require the status check <code>${statusContext}</code> on the branches that can be frozen:
        without that a freeze holds nothing.
      </p>`,
  );
