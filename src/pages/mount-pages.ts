// `pages/` shows HTML to people, and knows who may see it. A page reads what other rooms answer, and its forms call the
// use cases that the API calls. It decides nothing.
import type { OpenAPIHono } from '@hono/zod-openapi';
import { type Handler, Hono, type MiddlewareHandler } from 'hono';
import type { Deps } from '../deps.ts';
import { ExplanationsForPages } from '../explanations/explanations-for-pages.ts';
import type { CallerLimits } from '../github/limits/caller-limits.ts';
import { pictureOriginsOf, webUrlOf } from '../github/web-url.ts';
import { homeLivePath, installedPath, lockAppCallbackPath, slackAccountsPath } from '../page-paths.ts';
import { mountAssets } from './assets.ts';
import { showOwnerAudit, showRepositoryAudit } from './audit/show-audit.ts';
import { showCalendar } from './calendar/show-calendar.ts';
import { sendSubscribe, showSubscribe } from './calendar/subscribe.ts';
import { guarded, ownerForm, repositoryForm } from './change.ts';
import { chooseZone, foreignZone, refuseZone } from './choose-zone.ts';
import { showDeployments } from './deployments/show-deployments.ts';
import { showFirstSteps } from './first-steps.ts';
import {
  namedByFreezeForm,
  sendFreezeForm,
  showFreezeForm,
  showFreezeFormAgain,
} from './freeze-now/freeze-now.ts';
import { changesOfFreeze, deleteFreezesByForm } from './freeze/change-freeze.ts';
import { changeByForm, freezePage } from './freeze/show-freeze.ts';
import { showFind } from './find.ts';
import { followHome, showHome } from './home.ts';
import { showInstalled } from './installed.ts';
import { keepAnswer, showAnswer, showLive } from './kept-answers.ts';
import { headersOfPages } from './layout.ts';
import { followOwner, followRepository, OpenStreams } from './live.ts';
import { errorPage, ownForms } from './message-page.ts';
import { mountSignIn } from './mount-sign-in.ts';
import { freezerPage, ownerPage, planPage } from './owner/open-owner.ts';
import { showExemptions } from './owner/show-exemptions.ts';
import { showOwner } from './owner/show-owner.ts';
import {
  namedByNewPlan,
  namedByPlan,
  sendNewPlan,
  sendPlanEdit,
  showNewPlan,
  showNewPlanAgain,
  showPlanEdit,
  showPlanEditAgain,
} from './plan/change-plan.ts';
import { sendOccurrence, showOccurrence } from './plan/occurrence-page.ts';
import { deletePlanByForm, deletePlansByForm, extendPlan, namedByPlans } from './plan/plan-actions.ts';
import { showPlanPage, showPlans } from './plan/show-plans.ts';
import { showProgress } from './progress.ts';
import { openPage, type PageDeps, repositoryPage } from './reader.ts';
import { showMonths } from './reports/show-months.ts';
import { showRepository } from './repository/show-repository.ts';
import { finishLockApp } from './settings/create-lock-app.ts';
import {
  sendOwnerSettings,
  sendRepositorySettings,
  showOwnerSettingsPage,
  showRepositorySettingsPage,
} from './settings/settings-pages.ts';
import { sendSlackAccounts, showSlackAccounts } from './settings/slack.ts';
import {
  askForDeployment,
  askForExemption,
  decideOnExemption,
  decideOnSeveral,
  decisions,
} from './status/change-exemption.ts';
import { mergeGroupPage } from './status/merge-group-page.ts';
import { pullRequestPage } from './status/status-pages.ts';
import { namedByTelling, sendTelling } from './tell-people.ts';
import { namedByUndo, sendUndo } from './undo.ts';
import { namedByUnfreezeForm, sendUnfreezeForm, showUnfreezeForm } from './unfreeze.ts';

/** Mounts the pages for people. Each page has its own file. */
export function mountPages(app: OpenAPIHono, given: Deps, limits: CallerLimits): void {
  const pages = new Hono();
  const deps: PageDeps = {
    ...given,
    explanations: new ExplanationsForPages(given.clock),
    limits,
    streams: new OpenStreams(),
  };
  pages.onError((error, context) => errorPage(error, context, given.log));
  mountAssets(pages);
  // The form with the second App goes to GitHub, and people with roles have pictures there.
  const { githubApiUrl } = given.config;
  const pictures = pictureOriginsOf(githubApiUrl);
  for (const path of ['/owners/:owner/settings/roles', '/repos/:owner/:repository/settings'])
    pages.use(path, headersOfPages([], pictures));
  pages.use('/owners/:owner/settings/*', headersOfPages([webUrlOf(githubApiUrl)]));
  pages.use(headersOfPages(), notStored);
  mountSignIn(pages, deps, limits);
  mountForms(pages, deps);
  pages.get('/repos/:owner', ownerPage(deps, showOwner));
  pages.get('/owners/:owner/calendar', ownerPage(deps, showCalendar));
  pages.get('/owners/:owner/calendar/subscribe', ownerPage(deps, showSubscribe));
  pages.get('/owners/:owner/freeze', freezerPage(deps, showFreezeForm));
  pages.get('/owners/:owner/unfreeze', freezerPage(deps, showUnfreezeForm, releases));
  pages.get('/owners/:owner/plans/new', freezerPage(deps, showNewPlan));
  pages.get('/owners/:owner/plans', ownerPage(deps, showPlans));
  pages.get('/owners/:owner/plans/:plan', planPage(deps, showPlanPage, releases));
  pages.get('/owners/:owner/plans/:plan/occurrences/:start', planPage(deps, showOccurrence, releases));
  pages.get('/owners/:owner/plans/:plan/edit', planPage(deps, showPlanEdit, releases));
  pages.get('/owners/:owner/exemptions', ownerPage(deps, showExemptions));
  pages.get('/owners/:owner/deployments', ownerPage(deps, showDeployments));
  pages.get('/owners/:owner/reports', ownerPage(deps, showMonths));
  pages.get('/owners/:owner/audit', ownerPage(deps, showOwnerAudit));
  for (const path of settingsPaths) pages.get(path, ownerPage(deps, showOwnerSettingsPage));
  pages.get('/owners/:owner/live', ownerPage(deps, followOwner));
  pages.get('/owners/:owner/progress', ownerPage(deps, showProgress));
  pages.get('/repos/:owner/:repository', repositoryPage(deps, showRepository));
  pages.get('/repos/:owner/:repository/live', repositoryPage(deps, followRepository));
  pages.get('/repos/:owner/:repository/audit', repositoryPage(deps, showRepositoryAudit));
  pages.get('/repos/:owner/:repository/settings', repositoryPage(deps, showRepositorySettingsPage));
  pages.get('/repos/:owner/:repository/freezes/:id', repositoryPage(deps, freezePage, releases));
  pages.get('/repos/:owner/:repository/pulls/:number', repositoryPage(deps, pullRequestPage));
  pages.get('/repos/:owner/:repository/merge-groups/:sha', repositoryPage(deps, mergeGroupPage));
  pages.get('/owners/:owner/first-steps', openPage(deps, showFirstSteps));
  pages.get(slackAccountsPath, openPage(deps, showSlackAccounts));
  pages.get(lockAppCallbackPath, openPage(deps, finishLockApp));
  pages.get(installedPath, openPage(deps, showInstalled));
  // The last page of the setup, loaded again.
  pages.get('/setup/callback', (context) => context.redirect(installedPath, 302));
  pages.get('/', openPage(deps, showHome));
  pages.get('/find', openPage(deps, showFind));
  pages.get('/time-zone', refuseZone);
  pages.get(homeLivePath, openPage(deps, followHome));
  pages.post('/time-zone', ownForms(deps, foreignZone), (context) => chooseZone(deps, context));
  for (const { path, names } of addressesOfForms) pages.get(path, toPageBefore(names));
  app.route('/', pages);
}

/** General settings, each other subject, and an outgoing webhook. */
const settingsPaths = ['', '/:subject', '/webhooks/:webhook'].map((path) => `/owners/:owner/settings${path}`);

/** Pages and forms that end or change freezes. */
const releases = { releases: true };
const isUrgent = { isUrgent: true };

/** Mounts what receives the forms, each with the address of its answer. */
function mountForms(pages: Hono, deps: PageDeps): void {
  const form = (path: string, handler: Handler, { isLive = false } = {}) => {
    pages.get(path, showAnswer(deps, handler));
    if (isLive) pages.get(path, showLive(handler));
    pages.post(path, keepAnswer(deps), handler);
  };
  const forAdmins = async () => null;
  const live = { isLive: true };
  form('/owners/:owner/calendar/subscribe', ownerForm(deps, forAdmins, sendSubscribe));
  form(
    '/owners/:owner/freeze',
    ownerForm(deps, namedByFreezeForm, sendFreezeForm, isUrgent, showFreezeFormAgain),
    live,
  );
  form('/owners/:owner/unfreeze', ownerForm(deps, namedByUnfreezeForm, sendUnfreezeForm, releases));
  form('/owners/:owner/unfreeze/undo', ownerForm(deps, namedByUndo, sendUndo, isUrgent));
  form('/owners/:owner/progress/tell', ownerForm(deps, namedByTelling, sendTelling));
  form(
    '/owners/:owner/plans/new',
    ownerForm(deps, namedByNewPlan, sendNewPlan, isUrgent, showNewPlanAgain),
    live,
  );
  form(
    '/owners/:owner/plans/:plan/edit',
    ownerForm(deps, namedByPlan, sendPlanEdit, releases, showPlanEditAgain),
    live,
  );
  form(
    '/owners/:owner/plans/:plan/occurrences/:start',
    ownerForm(deps, namedByPlan, sendOccurrence, releases),
  );
  form('/owners/:owner/plans/:plan/extend', ownerForm(deps, namedByPlan, extendPlan, releases));
  form('/owners/:owner/plans/:plan/delete', ownerForm(deps, namedByPlan, deletePlanByForm, releases));
  form('/owners/:owner/plans', ownerForm(deps, namedByPlans, deletePlansByForm, releases));
  form('/owners/:owner/exemptions', guarded(deps, decideOnSeveral));
  form('/repos/:owner/:repository', repositoryForm(deps, { role: 'freezer' }, deleteFreezesByForm));
  for (const path of settingsPaths) form(path, ownerForm(deps, forAdmins, sendOwnerSettings));
  form('/repos/:owner/:repository/settings', repositoryForm(deps, {}, sendRepositorySettings));
  for (const change of changesOfFreeze)
    form(`/repos/:owner/:repository/freezes/:id/${change}`, changeByForm(deps, change));
  form('/repos/:owner/:repository/pulls/:number/exemptions', askForExemption(deps));
  form(ofDeployments, askForDeployment(deps));
  for (const decision of decisions)
    for (const exemptions of ['/repos/:owner/:repository/pulls/:number/exemptions', ofDeployments])
      form(`${exemptions}/:id/${decision}`, decideOnExemption(deps, decision));
  form(slackAccountsPath, guarded(deps, sendSlackAccounts));
}

const ofDeployments = '/repos/:owner/:repository/deployment_exemptions';

/** Paths that only receive forms, and how many segments follow the path of the page with the form. */
export const addressesOfForms = [
  ...['extend', 'delete'].map((form) => ({ path: `/owners/:owner/plans/:plan/${form}`, names: 1 })),
  ...changesOfFreeze.map((form) => ({ path: `/repos/:owner/:repository/freezes/:id/${form}`, names: 1 })),
  { path: '/owners/:owner/unfreeze/undo', names: 1 },
  { path: '/owners/:owner/progress/tell', names: 1 },
  { path: '/repos/:owner/:repository/pulls/:number/exemptions', names: 1 },
  ...decisions.map((form) => ({
    path: `/repos/:owner/:repository/pulls/:number/exemptions/:id/${form}`,
    names: 3,
  })),
  { path: ofDeployments, names: 1 },
  ...decisions.map((form) => ({ path: `${ofDeployments}/:id/${form}`, names: 3 })),
];

/** A restored tab, or a person who signs in again, requests the address that a form was sent to. */
const toPageBefore =
  (names: number): Handler =>
  (context) =>
    context.redirect(context.req.path.split('/').slice(0, -names).join('/'), 303);

/** Pages depend on the viewer and the time. */
const notStored: MiddlewareHandler = async (context, next) => {
  await next();
  context.header('Cache-Control', 'private, no-store');
};
