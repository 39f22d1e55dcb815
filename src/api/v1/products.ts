import { listRepositories, products } from '../../installations/product.ts';
import { setDefaultProducts, setRepositoryProducts } from '../../installations/settings.ts';
import { endpoint } from '../endpoint.ts';
import { ownerPath, repositoryPath } from '../fields.ts';
import { z } from '@hono/zod-openapi';

const productList = z.array(z.enum(products));
const schema = z.object({ products: productList }).openapi('Products');
const example = { products: ['merge_protections', 'merge_queue'] };
const body = { schema, example };

export const putProducts = endpoint({
  method: 'put',
  path: '/products/{owner}/{repository}',
  tag: 'Products',
  summary: 'Set the products enabled on a repository',
  access: { to: 'repository', scope: 'admin' },
  params: repositoryPath,
  body,
  success: { status: 204, description: 'Set' },
  async handle({ deps, actor, repository, body }) {
    await setRepositoryProducts(deps, actor, repository, body.products);
  },
});

export const getDefaultProducts = endpoint({
  method: 'get',
  path: '/default_products/{owner}',
  tag: 'Products',
  summary: 'Read the products that new repositories of an owner start with',
  access: { to: 'owner' },
  params: ownerPath,
  success: { status: 200, description: 'The default products', schema, example },
  async handle({ deps, account }) {
    const { defaultProducts } = await deps.db.account.findUniqueOrThrow({ where: { id: account.id } });
    return { products: defaultProducts };
  },
});

export const putDefaultProducts = endpoint({
  method: 'put',
  path: '/default_products/{owner}',
  tag: 'Products',
  summary: 'Set the products that new repositories of an owner start with',
  access: { to: 'owner' },
  params: ownerPath,
  body,
  success: { status: 204, description: 'Set' },
  async handle({ deps, actor, account, body }) {
    await setDefaultProducts(deps, actor, account, body.products);
  },
});

export const getRepositories = endpoint({
  method: 'get',
  path: '/repos/{owner}',
  tag: 'Products',
  summary: 'List the repositories of an owner with their enabled products',
  access: { to: 'owner' },
  params: ownerPath,
  success: {
    status: 200,
    description: 'Every repository where the App is installed',
    schema: z
      .object({ repositories: z.array(z.object({ name: z.string(), enabled_products: productList })) })
      .openapi('Repositories'),
    example: { repositories: [{ name: 'web', enabled_products: ['merge_protections', 'merge_queue'] }] },
  },
  async handle({ deps, account }) {
    const repositories = await listRepositories(deps, account.id);
    return { repositories: repositories.map(({ name, products }) => ({ name, enabled_products: products })) };
  },
});
