import { html } from 'hono/html';
import {
  ownerPath,
  ownerSettingsPath,
  repositoryPath,
  repositorySettingsPath,
  webhookPath,
} from '../../page-paths.ts';
import { fullName } from '../../installations/find-repository.ts';
import {
  changeRepositorySettings,
  setRepositoryProducts,
  showRepositorySettings,
} from '../../settings/settings.ts';
import { settingColumns } from '../../installations/setting-fields.ts';
import { recentEnforcement } from '../../explanations/enforcement/recent-enforcement.ts';
import { refusedPushes } from '../../explanations/enforcement/refused-pushes.ts';
import { forbidden } from '../../errors.ts';
import { answerForm, type OwnerChange, type RepositoryChange } from '../change.ts';
import { type FormProblems, noProblems, formProblemsOf } from '../form.ts';
import {
  howToGrant,
  isGranted,
  readExtraPermissions,
  deploymentFindings,
} from '../repository/enforcement.ts';
import type { Html } from '../html.ts';
import { saidMessage, showPage } from '../message-page.ts';
import type { OwnerVisit } from '../owner/open-owner.ts';
import {
  signInFirst,
  readerTimes,
  permissionOf,
  type RepositoryVisit,
  absentPage,
  uuidOf,
} from '../reader.ts';
import {
  adminsOnly,
  assertFreshSettings,
  productsForm,
  readProductsForm,
  readSettingsForm,
  type SettingsSection,
  settingsForm,
  settingsProblem,
} from './settings-form.ts';
import { searchedForm } from './people-chooser.ts';
import { isSubject, pageOfSubject, type Subject, subjectOf, subjects } from './subjects.ts';
import { findShownWebhook, webhookPage } from './webhooks.ts';

/** What a page of an owner's settings is about: a subject, or one webhook. */
type Place = { subject: Subject; webhook: string | null };

/** The place in the path (`:subject`, or `:webhook`); null if there is none. */
function placeOf({ context }: Pick<OwnerVisit, 'context'>): Place | null {
  if (context.req.param('webhook') !== undefined) {
    const webhook = uuidOf({ context }, 'webhook');
    return webhook === null ? null : { subject: 'webhooks', webhook };
  }
  const subject = context.req.param('subject') ?? 'general';
  return isSubject(subject) ? { subject, webhook: null } : null;
}

const pathOf = (login: string, { subject, webhook }: Place): string =>
  webhook === null ? ownerSettingsPath(login, subject) : webhookPath(login, webhook);

/** `GET /owners/{owner}/settings`, and each subject below it. */
export async function showOwnerSettingsPage(visit: OwnerVisit): Promise<Response> {
  const { account, viewer, isAdmin } = visit;
  if (!viewer) return signInFirst(visit);
  if (!isAdmin)
    return adminsOnly(visit, account.login, { href: ownerPath(account.login), text: 'Back to the overview' });
  const place = placeOf(visit);
  const sent = searchedForm(visit);
  return (place && (await ownerSettings(visit, place, noProblems, sent))) ?? absentPage(visit);
}

/** Fields that have other names in the API. */
const apiNames: Record<string, Record<string, string>> = {
  'create-key': { name: 'key_name' },
  'create-rule': { name: 'rule_name' },
  'create-webhook': { repositories: 'webhook_repositories' },
  'update-webhook': { repositories: 'webhook_repositories' },
};

/** `POST /owners/{owner}/settings`, and each subject below it. `do` names the form. */
export async function sendOwnerSettings(change: OwnerChange): Promise<Response> {
  const { account, administered, form } = change;
  // Nobody else but its admins: a role for freezes opens no settings.
  if (administered !== null) throw forbidden(`Only admins of ${account.login} can change its settings.`);
  const does = form.get('do') ?? '';
  const page = placeOf(change);
  if (!page) return absentPage(change);
  const subject = subjectOf(page.subject, does);
  const place = subject === page.subject ? page : { subject, webhook: null };
  return answerForm(
    change,
    async () => {
      const done = await pageOfSubject(subject).forms[does]?.(change);
      if (done instanceof Response) return done;
      return `${typeof done === 'string' ? done : pathOf(account.login, place)}?said=saved`;
    },
    async (problems) => (await ownerSettings(change, place, problems, form)) ?? absentPage(change),
    (error) => formProblemsOf(error, apiNames[does]),
  );
}

/** @returns null if there is no such webhook. */
async function ownerSettings(
  visit: Pick<OwnerVisit, 'deps' | 'context' | 'viewer' | 'account'>,
  place: Place,
  problems: FormProblems = noProblems,
  sent: URLSearchParams | null = null,
): Promise<Response | null> {
  const { deps, context, account } = visit;
  const { login } = account;
  const { subject } = place;
  const section: SettingsSection = {
    ...{ deps, account, problems, sent, action: pathOf(login, place), times: readerTimes(visit) },
  };
  const webhook = place.webhook === null ? null : await findShownWebhook(section, place.webhook);
  if (place.webhook !== null && !webhook) return null;
  const { name } = subjects[subject];
  const shown = webhook ? webhookPage(section, webhook) : pageOfSubject(subject).show(section);
  const body = html`<div class="with-subjects">
    ${listOfSubjects(login, subject)}
    <div>
      ${webhook ? '' : html`<h1>${name}</h1>`} ${saidMessage(context)} ${settingsProblem(problems)}
      ${await shown}
    </div>
  </div>`;
  const crumbs = [
    { name: 'Settings', ...(subject !== 'general' && { href: ownerSettingsPath(login) }) },
    ...(subject === 'general' ? [] : [{ name, ...(webhook && { href: ownerSettingsPath(login, subject) }) }]),
    ...(webhook ? [{ name: webhook.name }] : []),
  ];
  const page = { title: `${name} · Settings of ${login}`, body, owner: login, tab: 'settings' } as const;
  return showPage(visit, { ...page, crumbs }, problems.size > 0 ? 422 : 200);
}

/** The subjects, beside each of their pages. Their ids are where links to parts of the page that had them all lead. */
const listOfSubjects = (login: string, shown: Subject): Html =>
  html`<nav class="subjects" aria-label="Settings">
    <ul>
      ${(Object.keys(subjects) as Subject[]).map((each) => {
        const { name, anchor = each } = pageOfSubject(each);
        const isShown = each === shown;
        return html`<li>
          <a
            id="${anchor}"
            href="${ownerSettingsPath(login, each)}"
            ${isShown ? html`aria-current="page"` : ''}
            >${name}</a
          >
        </li>`;
      })}
    </ul>
  </nav>`;

/** `GET /repos/{owner}/{repository}/settings`. */
export async function showRepositorySettingsPage(visit: RepositoryVisit): Promise<Response> {
  const { repository, viewer } = visit;
  if (!viewer) return signInFirst(visit);
  if ((await permissionOf(visit)) === 'admin')
    return repositorySettings(visit, noProblems, searchedForm(visit));
  const link = { href: repositoryPath(repository), text: 'Back to the repository' };
  return adminsOnly(visit, fullName(repository), link);
}

/** `POST /repos/{owner}/{repository}/settings`. `do` names the form. */
export const sendRepositorySettings = (change: RepositoryChange): Promise<Response> =>
  answerForm(
    change,
    async () => {
      const { deps, actor, repository, form } = change;
      if (form.get('do') === 'products')
        await setRepositoryProducts(deps, actor, repository, readProductsForm(form));
      else {
        const settings = await showRepositorySettings(deps, repository);
        assertFreshSettings(form, settings);
        await changeRepositorySettings(deps, actor, repository, readSettingsForm(form, true));
      }
      return `${repositorySettingsPath(repository)}?said=saved`;
    },
    (problems) => repositorySettings(change, problems, change.form),
  );

async function repositorySettings(
  visit: Pick<RepositoryVisit, 'deps' | 'context' | 'viewer' | 'repository'>,
  problems: FormProblems = noProblems,
  sent: URLSearchParams | null = null,
): Promise<Response> {
  const { deps, context, repository } = visit;
  const { login } = repository.account;
  const action = repositorySettingsPath(repository);
  const settings = await showRepositorySettings(deps, repository);
  const refused = (await deps.github.lock.id()) === null ? [] : await refusedPushes(deps, repository);
  const extra = await readExtraPermissions(deps, repository);
  const { products } = await deps.db.repository.findUniqueOrThrow({ where: { id: repository.id } });
  const body = html`<h1>Settings of ${repository.name}</h1>
    ${saidMessage(context)} ${settingsProblem(problems)}
    ${await settingsForm({ deps, place: { ...repository, repository: repository.name }, action, settings, columns: settingColumns, owner: login, refused, problems, sent })}
    ${productsForm(action, 'Products', products, sent)}
    <h2 id="deployments">Deployments</h2>
    ${
      isGranted(extra, 'deployments')
        ? deploymentFindings(await recentEnforcement(deps, repository))
        : howToGrant(extra, 'deployments')
    }`;
  const crumbs = [{ name: repository.name, href: repositoryPath(repository) }, { name: 'Settings' }];
  const page = { title: `Settings of ${repository.name}`, body, owner: login, crumbs };
  return showPage(visit, page, problems.size > 0 ? 422 : 200);
}
