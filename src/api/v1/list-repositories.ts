import { z } from '@hono/zod-openapi';
import { products, listRepositories } from '../../installations/product.ts';
import { endpoint } from '../endpoint.ts';
import { ownerPath } from '../path-params.ts';

const schema = z
  .object({
    repositories: z.array(z.object({ name: z.string(), enabled_products: z.array(z.enum(products)) })),
  })
  .openapi('Repositories');

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
    schema,
    example: { repositories: [{ name: 'web', enabled_products: ['merge_protections', 'merge_queue'] }] },
  },
  async handle({ deps, account }) {
    const repositories = await listRepositories(deps, account.id);
    return { repositories: repositories.map(({ name, products }) => ({ name, enabled_products: products })) };
  },
});
