import { html } from 'hono/html';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { repositoryPath, repositorySettingsPath } from '../../installations/page-paths.ts';
import {
  changeRepositorySettings,
  setRepositoryProducts,
  showRepositorySettings,
} from '../../installations/settings.ts';
import { refusedPushes } from '../../explanations/enforcement/refused-pushes.ts';
import { recentEnforcement } from '../../explanations/enforcement/recent-enforcement.ts';
import { answerForm, type RepositoryChange } from '../change.ts';
import { assertFresh, digestOf, type FormProblems, noProblems } from '../form.ts';
import { howToGrant, isGranted, readExtraPermissions } from '../extra-permissions.ts';
import { layout } from '../layout.ts';
import { deploymentFindings } from '../repository/enforcement.ts';
import { messageOf } from '../message-page.ts';
import { permissionOf, type RepositoryVisit, signInFirst } from '../reader.ts';
import { readerZone } from '../text.ts';
import {
  adminsOnly,
  productsForm,
  readProductsForm,
  readSettingsForm,
  settingsForm,
} from './settings-form.ts';

/** `GET /repos/{owner}/{repository}/settings`. */
export async function showRepositorySettingsPage(visit: RepositoryVisit): Promise<Response> {
  const { repository, viewer } = visit;
  if (!viewer) return signInFirst(visit);
  if ((await permissionOf(visit)) === 'admin') return page(visit, repository);
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
        assertFresh(form, digestOf(settings), 'these settings');
        await changeRepositorySettings(deps, actor, repository, readSettingsForm(form, true));
      }
      return `${repositorySettingsPath(repository)}?said=saved`;
    },
    (problems) => page(change, change.repository, problems),
  );

async function page(
  visit: Pick<RepositoryVisit, 'deps' | 'context' | 'viewer'>,
  repository: FoundRepository,
  problems: FormProblems = noProblems,
): Promise<Response> {
  const { deps, context, viewer } = visit;
  const { login } = repository.account;
  const action = repositorySettingsPath(repository);
  const settings = await showRepositorySettings(deps, repository);
  const refused = (await deps.github.lock.id()) === null ? [] : await refusedPushes(deps, repository);
  const extra = await readExtraPermissions(deps, repository);
  const { products } = await deps.db.repository.findUniqueOrThrow({ where: { id: repository.id } });
  const body = html`<h1>Settings of ${repository.name}</h1>
    ${messageOf(context)} ${settingsForm({ action, settings, owner: login, refused, problems })}
    ${productsForm(action, 'Products', products)}
    <h2 id="deployments">Deployments</h2>
    ${
      isGranted(extra, 'deployments')
        ? deploymentFindings(await recentEnforcement(deps, repository))
        : howToGrant(extra, 'deployments')
    }`;
  const crumbs = [{ name: repository.name, href: repositoryPath(repository) }, { name: 'Settings' }];
  const title = `Settings of ${repository.name}`;
  const zone = readerZone(context);
  return context.html(
    await layout({ title, body, viewer, owner: login, crumbs, zone }),
    problems.size > 0 ? 422 : 200,
  );
}
