import { html } from 'hono/html';
import pLimit from 'p-limit';
import { listKeys } from '../auth/application-key.ts';
import { type EnforcementReport, recentEnforcement } from '../explanations/enforcement/recent-enforcement.ts';
import type { Sql } from '../database/sql.ts';
import { requiredIn, type RepositoryState } from '../explanations/repository-states.ts';
import { hasEverFrozen } from '../freezes/list-freezes.ts';
import { webUrlOf } from '../github/web-url.ts';
import type { InstalledAccount } from '../installations/find-account.ts';
import { type FoundRepository, knownRepository } from '../installations/find-repository.ts';
import { firstStepsPath, ownerFormPath, repositoryPath } from '../page-paths.ts';
import { usedRepositories } from '../installations/product.ts';
import type { Html } from './html.ts';
import { showPage } from './message-page.ts';
import { opensAll } from './opens.ts';
import {
  absentOrSignIn,
  absentPage,
  ownerOfPath,
  type PageDeps,
  rememberReader,
  type Visit,
} from './reader.ts';
import {
  deploymentFindings,
  type ExtraPermissions,
  howToGrant,
  installationPage,
  isGranted,
  readExtraPermissions,
  verdictOf,
  whatToMend,
} from './repository/enforcement.ts';
import { pageLinks } from './repository/freeze-list.ts';

/** How many repositories a page checks for the required status check. Each costs a few questions to GitHub. */
const repositoriesPerPage = 10;
/** How many repositories are checked in parallel. */
const checksAtOnce = 3;

/**
 * `GET /owners/{owner}/first-steps`: what admins of the owner still have to do after the installation. A step is done
 * when it is true now. Nobody can dismiss it.
 */
export async function showFirstSteps(visit: Visit): Promise<Response> {
  const { deps, context, viewer } = visit;
  if (!viewer) return absentOrSignIn(visit);
  const account = await ownerOfPath(visit);
  if (!account || !(await deps.permissions.isOwnerAdmin(deps, viewer, account))) return absentPage(visit);
  await rememberReader(deps, viewer);
  const steps = await loadSteps(deps, account, Number(context.req.query('from') ?? 0));
  const page = { title: `First steps for ${account.login}`, body: firstStepsBody(deps, account, steps) };
  return showPage(
    { context, viewer: { ...viewer, opens: opensAll } },
    { ...page, owner: account.login, crumbs: [{ name: 'First steps' }] },
  );
}

/** @property report null while GitHub has not answered yet. */
type CheckedRepository = { repository: FoundRepository; report: EnforcementReport | null };

type Steps = {
  count: number;
  from: number;
  checked: CheckedRepository[];
  keys: number;
  hasFreezes: boolean;
  extra: ExtraPermissions | null;
};

async function loadSteps(deps: PageDeps, account: InstalledAccount, asked: number): Promise<Steps> {
  const from = Number.isSafeInteger(asked) && asked > 0 ? asked : 0;
  const [{ count, names }, keys, hasFreezes, extra] = await Promise.all([
    usedRepositories(deps, account.id, from, repositoriesPerPage),
    listKeys(deps, account),
    hasEverFrozen(deps.db, account.id),
    readExtraPermissions(deps, { account, installation: account.installation }),
  ]);
  const checked: CheckedRepository[] = [];
  await pLimit(checksAtOnce).map(names, async (name) => {
    const repository = await knownRepository(deps, account.login, name);
    if (repository) checked.push({ repository, report: await recentEnforcement(deps, repository) });
  });
  const byName = (one: CheckedRepository, other: CheckedRepository) =>
    one.repository.name.localeCompare(other.repository.name, 'en');
  return { count, from, checked: checked.toSorted(byName), keys: keys.length, hasFreezes, extra };
}

function firstStepsBody(deps: PageDeps, account: InstalledAccount, steps: Steps): Html {
  const { count, from, checked, keys, hasFreezes, extra } = steps;
  const { config } = deps;
  const isRequiredHere = checked.length > 0 && checked.every(({ report }) => report?.enforced === true);
  const isWhole = checked.length === count;
  const web = webUrlOf(config.githubApiUrl);
  const isOrganization = account.type === 'Organization';
  const installation = installationPage(deps, { account, installation: account.installation });
  const rules = `${web}/organizations/${account.login}/settings/rules`;
  return html`<h1>First steps for ${account.login}</h1>
    <ol class="steps">
      ${firstStep(
        count > 0,
        'Holdfast sees your repositories',
        html`<p>
          It sees ${count === 1 ? '1 repository' : `${count} repositories`}. If one is missing, add it in
          <a href="${installation}" rel="noreferrer">the installation on GitHub</a>.
        </p>`,
      )}
      ${firstStep(
        isRequiredHere && isWhole,
        `GitHub requires the check ${config.statusContext}`,
        html`<p>
            If the check is not required, GitHub merges pull requests during a freeze.
            ${
              isOrganization
                ? html`An <a href="${rules}" rel="noreferrer">organization ruleset</a> can require it in all
                    repositories.`
                : ''
            }
          </p>
          ${checked.map(requirement)}
          ${isRequiredHere && !isWhole ? html`<p>It is required in these repositories. Check the others too.</p>` : ''}
          ${pageLinks('Pages of repositories', [
            [
              'Earlier repositories',
              from > 0 ? linkTo(account, Math.max(0, from - repositoriesPerPage)) : null,
            ],
            [
              'Later repositories',
              from + repositoriesPerPage < count ? linkTo(account, from + repositoriesPerPage) : null,
            ],
          ])}`,
      )}
      ${firstStep(
        keys > 0,
        'Scripts have an application key',
        keys > 0
          ? html`<p>${account.login} has ${keys === 1 ? '1 key' : `${keys} keys`}.</p>`
          : html`<p>Create one with your own GitHub token:</p>
              <pre><code>curl -X POST ${config.publicUrl}/v1/applications/${account.login} \\
  -H "Authorization: Bearer $(gh auth token)" -H "Content-Type: application/json" \\
  -d '{"name": "first key", "scope": "admin"}'</code></pre>`,
      )}
      ${firstStep(
        hasFreezes,
        'You have created a freeze',
        hasFreezes
          ? html`<p>${account.login} has at least one freeze.</p>`
          : html`<p>
              <a href="${ownerFormPath(account.login, 'freeze')}">Freeze now</a>, or create a
              <a href="${ownerFormPath(account.login, 'plans/new')}">plan</a>.
            </p>`,
      )}
      ${commandsStep(extra)} ${deploymentsStep(extra, checked)}
    </ol>`;
}

const linkTo = ({ login }: InstalledAccount, from: number): string => `${firstStepsPath(login)}?from=${from}`;

/** Whether one repository requires the check; if not, what to click or call. */
function requirement({ repository, report }: CheckedRepository): Html {
  const link = html`<a href="${repositoryPath(repository)}">${repository.name}</a>`;
  if (!report) return html`<p>${link}: Holdfast is still asking GitHub. Reload the page in a moment.</p>`;
  if (report.enforced === true) return html`<p>${link} ${verdictOf(report)}</p>`;
  return html`<details>
    <summary>${repository.name} ${verdictOf(report)}</summary>
    ${whatToMend(report)}
    <p>${link}</p>
  </details>`;
}

/** A step for which the App needs more permissions. */
const commandsStep = (extra: ExtraPermissions | null): Html =>
  firstStep(
    isGranted(extra, 'comments'),
    'People can use commands in comments',
    isGranted(extra, 'comments')
      ? html`<p>For example, <code>/holdfast freeze 2h INC-4711</code> in the first line of a comment.</p>`
      : howToGrant(extra, 'comments'),
    extra?.comments.isRequested ? 'To do' : 'Optional',
  );

/** Whether freezes can block deployments, and which environments have the rule. */
function deploymentsStep(extra: ExtraPermissions | null, checked: CheckedRepository[]): Html {
  const isReady = isGranted(extra, 'deployments');
  const hasRule = checked.some(
    ({ report }) =>
      report?.environments?.known && report.environments.value.environments.some(({ waits }) => waits),
  );
  const content = isReady
    ? html`<p>
          An admin enables the rule of Holdfast in each environment. GitHub offers these rules for public
          repositories, and for private ones with GitHub Enterprise. Elsewhere, use a
          <a href="/help/gate">gate</a>.
        </p>
        ${checked.map(
          ({ repository, report }) =>
            html`<details>
              <summary>${repository.name}</summary>
              ${deploymentFindings(report)}
            </details>`,
        )}`
    : howToGrant(extra, 'deployments');
  const badge = extra?.deployments.isRequested ? 'To do' : 'Optional';
  return firstStep(isReady && hasRule, 'Freezes can block deployments', content, badge, 'deployments');
}

/** The steps that an owner has to do, as its overview knows them. */
type OpenStep = { title: string; isDone: boolean; isWrong?: boolean };

/** Owners whose steps were once done, as far as this process knows: nobody asks again. */
const doneOwners = new WeakMap<PageDeps['explanations'], Set<bigint>>();

/**
 * The card of the first steps on the overview of an owner, for its admins, until the steps are done; what is wrong comes
 * first.
 * @param repositories of the owner.
 */
export async function firstStepsCard(
  deps: PageDeps,
  { id, login }: InstalledAccount,
  repositories: RepositoryState[],
): Promise<Html | ''> {
  const done = doneOwners.get(deps.explanations) ?? new Set();
  doneOwners.set(deps.explanations, done);
  if (done.has(id)) return '';
  const looked = repositories.filter(({ archived }) => !archived).slice(0, repositoriesPerPage);
  const [made, required] = await Promise.all([hasMade(deps.sql, id), requiredIn(deps, looked)]);
  const verdicts = looked.map((each) => required.get(each.id) ?? null);
  const steps: OpenStep[] = [
    { title: 'Holdfast sees your repositories', isDone: looked.length > 0 },
    {
      title: `GitHub requires the check ${deps.config.statusContext}`,
      isDone: looked.length > 0 && verdicts.every((each) => each === true),
      isWrong: verdicts.includes(false),
    },
    { title: 'Scripts have an application key', isDone: made.keys },
    { title: 'You have created a freeze', isDone: made.freezes },
  ];
  const open = steps.filter(({ isDone }) => !isDone);
  if (open.length === 0) {
    done.add(id);
    return '';
  }
  const sorted = open.toSorted((one, other) => Number(other.isWrong ?? false) - Number(one.isWrong ?? false));
  return html`<section class="card" aria-labelledby="first-steps">
    <h2 class="first" id="first-steps">
      <a href="${firstStepsPath(login)}">First steps</a>: ${steps.length - open.length} of ${steps.length}
    </h2>
    <ul class="names">
      ${sorted.map(
        ({ title, isWrong }) =>
          html`<li>
            <span class="badge ${isWrong ? 'leaking' : 'past'}">${isWrong ? 'Not enforced' : 'To do'}</span>
            ${title}
          </li>`,
      )}
    </ul>
  </section>`;
}

const madeByOwner = `
  SELECT EXISTS (SELECT FROM application_keys WHERE account_id = $1 AND revoked_at IS NULL) AS keys,
    EXISTS (SELECT FROM freezes f JOIN repositories r ON r.id = f.repository_id WHERE r.account_id = $1) AS freezes`;

/** Whether an owner has a key, and ever had a freeze. */
const hasMade = async ({ read }: Sql, accountId: bigint): Promise<{ keys: boolean; freezes: boolean }> =>
  (await read<{ keys: boolean; freezes: boolean }>('first-steps', madeByOwner, [accountId]))[0]!;

/** One step and its state. @param otherwise the badge of a step that is not done. @param id where links lead. */
const firstStep = (isDone: boolean, title: string, content: Html, otherwise = 'To do', id = ''): Html =>
  html`<li class="card">
    <h2 class="first" ${id === '' ? '' : html`id="${id}"`}>
      <span class="badge ${isDone ? 'free' : 'past'}">${isDone ? 'Done' : otherwise}</span> ${title}
    </h2>
    ${content}
  </li>`;
