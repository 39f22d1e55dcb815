import { html } from 'hono/html';
import * as z from 'zod';
import { appTemplate } from '../../github/app-manifest.ts';
import { nameOfGitHub } from '../../github/web-url.ts';
import { installedPath } from '../../page-paths.ts';
import type { Html } from '../../pages/html.ts';
import { layout } from '../../pages/layout.ts';
import { newAppForm, type NewAppOffer } from '../../pages/settings/create-lock-app.ts';

const setupLayout = (title: string, body: Html): Html => layout({ title, body });

const alert = (problem: string | null): Html | '' =>
  problem === null ? '' : html`<p class="notice held" role="alert">${problem}</p>`;

/** Tells a person who cannot continue what to do instead. */
export const stopPage = (heading: string, text: string): Html =>
  setupLayout(
    heading,
    html`<h1>${heading}</h1>
      <p>${text}</p>`,
  );

/** Asks for the code in the log. */
export const codePage = (problem: string | null): Html =>
  setupLayout(
    'Set up',
    html`<h1>Set up Holdfast</h1>
      <p>
        This service has no GitHub App yet. To set it up, enter the code from its log. The line
        <code>no GitHub App is configured</code> contains the code, which works once.
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
          autofocus
        />
        <button type="submit" class="next">Continue</button>
      </form>`,
  );

/** What a person filled in. */
export type Choices = {
  owner: 'organization' | 'person';
  organization: string;
  name: string;
  place: 'database' | 'env';
  /** Whether people can use commands in comments. The App then requests more permissions. */
  takesCommands: boolean;
  /** Whether freezes hold deployments at GitHub. The App then requests more permissions. */
  holdsDeployments: boolean;
};

type SetupPage = {
  choices: Choices;
  problem: string | null;
  webUrl: string;
  publicUrl: string;
  warnings: string[];
  /** Where the credentials can be saved. Both may be false. */
  places: { database: boolean; env: boolean };
};

/** The first step: the owner of the App, its name, and where to save its credentials. */
export function setupPage(setup: SetupPage): Html {
  const { webUrl, publicUrl, warnings, problem, places } = setup;
  const github = nameOfGitHub(webUrl);
  return setupLayout(
    'Set up',
    html`<h1>Set up Holdfast</h1>
      <p>
        Holdfast runs as your own GitHub App. Sign in to ${github} in this browser first. It creates the App
        with the right permissions, and sends its credentials to this service.
      </p>
      ${alert(problem)}
      <div class="card">
        <h2 class="first">Address of this service</h2>
        <p><code>${publicUrl}</code></p>
        <p class="muted">GitHub sends events to this address, and people open pages there (PUBLIC_URL).</p>
        ${warnings.map((warning) => html`<p class="notice held">${warning}</p>`)}
      </div>
      ${places.database ? '' : secretKeyAdvice} ${places.database || places.env ? setupForm(setup) : ''}`,
  );
}

const secretKeyAdvice = html`<div class="card">
  <h2 class="first">SECRET_KEY is not set</h2>
  <p>
    Holdfast encrypts the credentials that it saves in PostgreSQL. Generate a key, set it as
    <code>SECRET_KEY</code> for every Holdfast process, and restart Holdfast:
  </p>
  <pre tabindex="0"><code>openssl rand -hex 32</code></pre>
</div>`;

function setupForm({ choices, webUrl, places }: SetupPage): Html {
  const github = nameOfGitHub(webUrl);
  const radio = (owner: Choices['owner'], label: string) =>
    html`<label class="choice">
      <input type="radio" name="owner" value="${owner}" ${choices.owner === owner ? 'checked' : ''} />
      ${label}
    </label>`;
  return html`<form class="card form" method="post" action="/setup">
    <fieldset>
      <legend>Owner of the GitHub App</legend>
      ${radio('organization', 'An organization')}
      <label for="organization">Organization name on ${github}</label>
      <input
        id="organization"
        name="organization"
        value="${choices.organization}"
        maxlength="40"
        spellcheck="false"
        autocapitalize="none"
        autofocus
      />
      ${radio('person', 'Your personal account')}
    </fieldset>
    <label for="name">GitHub App name</label>
    <input
      id="name"
      name="name"
      value="${choices.name}"
      required
      maxlength="34"
      aria-describedby="name-hint"
    />
    <p id="name-hint" class="muted">
      The name must be unique on ${github}, such as “Holdfast” followed by your organization’s name.
    </p>
    ${
      places.env && places.database
        ? html`<label class="choice">
            <input type="checkbox" name="place" value="env" ${choices.place === 'env' ? 'checked' : ''} />
            Save the credentials in <code>.env</code> instead of the database
          </label>`
        : places.env
          ? html`<p class="muted">Holdfast saves the credentials in <code>.env</code>.</p>`
          : ''
    }
    ${permission(
      'comments',
      choices.takesCommands,
      'Let people use commands in comments on pull requests',
      html`For example, <code>/holdfast freeze 2h INC-4711</code>. The App then requests two more permissions:
        <i>Issues: read</i>, so that GitHub sends comments to Holdfast, and <i>Pull requests: write</i>, so
        that Holdfast can reply. An App with the second permission can also edit and close pull requests.
        Holdfast never does. You can add both permissions later.`,
    )}
    ${permission(
      'deployments',
      choices.holdsDeployments,
      'Let freezes block deployments of GitHub Actions',
      html`The App then requests <i>Deployments: write</i>, so that Holdfast can approve or reject deployments
        that wait, and <i>Actions: read</i>, so that it finds them. You enable its protection rule in each
        environment yourself. GitHub offers these rules for public repositories, and for private ones with
        GitHub Enterprise. You can add both permissions later.`,
    )}
    <button type="submit" class="next">Continue</button>
  </form>`;
}

/** A checkbox for something that needs more permissions. */
const permission = (name: string, isChecked: boolean, label: string, hint: Html): Html =>
  html`<label class="choice">
      <input
        type="checkbox"
        name="${name}"
        value="on"
        aria-describedby="${name}-hint"
        ${isChecked ? 'checked' : ''}
      />
      ${label}
    </label>
    <p id="${name}-hint" class="muted">${hint}</p>`;

const nameLength = 34;

const setupSchema = z
  .object({
    owner: z.enum(['organization', 'person'], 'Choose who owns the GitHub App.'),
    organization: z.string().trim().default(''),
    name: z
      .string('Give the App a name.')
      .trim()
      .min(1, 'Give the App a name.')
      .max(nameLength, `A GitHub App name can have at most ${nameLength} characters.`),
    place: z.enum(['database', 'env']).default('database'),
    // The value of a selected checkbox.
    comments: z.literal('on').optional(),
    deployments: z.literal('on').optional(),
  })
  .refine(
    ({ owner, organization }) => owner === 'person' || /^[A-Za-z0-9-]{1,40}$/.test(organization),
    'Enter the organization name from its URL. It has letters, digits and hyphens.',
  );

/** What the form shows at first. */
export const firstChoices: Choices = {
  owner: 'organization',
  organization: '',
  name: appTemplate.name,
  place: 'database',
  takesCommands: false,
  holdsDeployments: false,
};

/** Reads the form. If it is invalid, returns the first problem and the input. */
export function readChoices(form: URLSearchParams): { choices: Choices; problem: string | null } {
  const parsed = setupSchema.safeParse(Object.fromEntries(form));
  const given: Omit<Choices, 'takesCommands' | 'holdsDeployments'> = parsed.data ?? {
    owner: form.get('owner') === 'person' ? 'person' : 'organization',
    organization: form.get('organization') ?? '',
    name: form.get('name') ?? '',
    place: form.get('place') === 'env' ? 'env' : 'database',
  };
  const { owner, organization, name, place } = given;
  const isOn = (box: string) => form.get(box) === 'on';
  return {
    choices: {
      ...{ owner, organization, name, place },
      takesCommands: isOn('comments'),
      holdsDeployments: isOn('deployments'),
    },
    problem: parsed.error?.issues[0]!.message ?? null,
  };
}

/** The second step: a summary of the App. The button leads to GitHub. */
export const reviewPage = (offer: NewAppOffer): Html =>
  setupLayout(
    'Set up',
    html`<h1>Create the App on ${nameOfGitHub(offer.action)}</h1>
      ${newAppForm(offer, html`<a class="button quiet" href="/setup">Back</a>`)}`,
  );

type Done = {
  name: string;
  installUrl: string;
  /** Where the credentials are saved, in words. */
  place: string;
  statusContext: string;
  /** Whether the service started. */
  isRunning: boolean;
  /** The second App; null if it cannot be made here. */
  lock: NewAppOffer | null;
};

/** The last step: what is left to do on GitHub. */
export const donePage = ({ name, installUrl, place, statusContext, isRunning, lock }: Done): Html =>
  setupLayout(
    'Connected',
    html`<h1>${name} is connected</h1>
      <p>Its credentials are saved in ${place}. The setup page is now closed.</p>
      ${isRunning ? '' : alert('The service could not start. Its log says why. Restart the service.')}
      <div class="card">
        <h2 class="first">Install it on your repositories</h2>
        <p>Holdfast cannot see your repositories until you install it.</p>
        <p><a class="button" href="${installUrl}">Install ${name}</a></p>
      </div>
      <p>
        Then require the status check <code>${statusContext}</code> on the branches that you want to freeze.
        Without the required check, a freeze holds nothing.
      </p>
      <h2>Optional: block at once</h2>
      <p>
        Statuses of hundreds of pull requests take minutes. With a second App, a ruleset blocks them within a
        second: see <a href="/help/instant-hold">Instant hold</a>. You can also create it later, on the
        settings page of the owner of the App.
      </p>
      ${lock ? newAppForm(lock) : ''}
      ${isRunning ? html`<p><a href="${installedPath}">Go on: what is installed, and what to do next</a></p>` : ''}`,
  );
