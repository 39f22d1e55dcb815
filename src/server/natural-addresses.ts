import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import { owner as ownerShape, repository as repositoryShape } from '../api/fields.ts';
import { ownerPath, pullRequestPath, repositoryPath } from '../installations/page-paths.ts';
import { isForBrowser } from './not-served.ts';

/**
 * Leads GitHub's own addresses, such as `/acme/web/pull/5`, to the pages about the same, so that people replace
 * `github.com` by the host of Holdfast. Programs get the same 404 as anywhere else. Nothing is looked up, so a redirect says nothing about what exists. Call it after
 * mounting everything: what begins like an address of Holdfast leads nowhere else.
 */
export function mountNaturalAddresses(app: OpenAPIHono): void {
  const firstWords = new Set(['setup', ...app.routes.map(({ path }) => path.split('/')[1]!)]);
  const leads =
    (pathOf: (login: string, name: string, number: string) => string): Handler =>
    async (context, next) => {
      const { owner = '', repository = 'any', number = '1' } = context.req.param();
      const isOne =
        isForBrowser(context) &&
        !firstWords.has(owner.toLowerCase()) &&
        ownerShape.safeParse(owner).success &&
        repositoryShape.safeParse(repository).success &&
        /^\d{1,15}$/.test(number);
      return isOne ? context.redirect(pathOf(owner, repository, number), 302) : next();
    };
  const named = (login: string, name: string) => ({ name, account: { login } });
  app.get('/:owner', leads(ownerPath));
  app.get(
    '/:owner/:repository',
    leads((login, name) => repositoryPath(named(login, name))),
  );
  // The tabs of a pull request, such as `/files`, too.
  app.get(
    '/:owner/:repository/pull/:number/*',
    leads((login, name, number) => pullRequestPath(named(login, name), Number(number))),
  );
}
