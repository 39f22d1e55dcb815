import { command, type CommandSpec } from '../command.ts';
import type { Schemas } from '../service/service.ts';
import { readOwner, readRepository } from '../target.ts';

const list = command<object, [owner: string]>({
  usage: 'list <owner>',
  summary: 'list the repositories of an owner, with their products',
  examples: [['holdfast products list acme', 'See where freezes are switched on']],
  async run({ output, connect }, _options, text) {
    const owner = readOwner(text);
    const { service } = await connect();
    const found = await service.get('/repos/{owner}', { owner });
    output.table(
      ['REPOSITORY', 'PRODUCTS'],
      found.repositories.map(({ name, enabled_products }) => [
        `${owner}/${name}`,
        enabled_products.join(', ') || 'none',
      ]),
    );
    output.json(found);
  },
});

const set = command<object, [repository: string, products: string[]]>({
  usage: 'set <repository> <products...>',
  summary: 'enable these products of a repository, and disable all others',
  examples: [
    ['holdfast products set acme/web merge_protections', 'Switch freezes on in a repository'],
    ['holdfast products set acme/web none', 'Disable everything. Blocked pull requests can merge again'],
  ],
  async run({ output, connect }, _options, text, names) {
    const repository = readRepository(text);
    const { service } = await connect();
    const products = readProducts(names);
    await service.put('/products/{owner}/{repository}', repository, { products });
    output.line(`${text} has ${products.join(', ') || 'no products'}.`);
    output.json({ products });
  },
});

const defaults = command<object, [owner: string, products: string[]]>({
  usage: 'default <owner> [products...]',
  summary: 'show or set the products of new repositories of an owner',
  examples: [
    ['holdfast products default acme', 'Show the default products'],
    ['holdfast products default acme merge_protections merge_queue', 'Set the default products'],
  ],
  async run({ output, connect }, _options, text, names) {
    const owner = readOwner(text);
    const { service } = await connect();
    const path = '/default_products/{owner}';
    if (names.length > 0) await service.put(path, { owner }, { products: readProducts(names) });
    const { products } = await service.get(path, { owner });
    output.line(`New repositories of ${owner} start with ${products.join(', ') || 'no products'}.`);
    output.json({ products });
  },
});

/** The service refuses other names. */
const readProducts = (names: string[]) =>
  (names.join() === 'none' ? [] : names) as Schemas['Products']['products'];

export const products: CommandSpec = {
  usage: 'products',
  summary: 'manage the products of repositories',
  below: [list, set, defaults],
};
