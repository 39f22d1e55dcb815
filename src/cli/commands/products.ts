import { command, type CommandSpec } from '../command.ts';
import { v1 } from '../service/service.ts';
import { readOwner, readRepository } from '../target.ts';

const list = command<object, [owner: string]>({
  usage: 'list <owner>',
  summary: 'list the repositories of an owner, with their products',
  examples: [['holdfast products list acme', 'Where freezes are switched on']],
  async run({ output, connect }, _options, text) {
    const owner = readOwner(text);
    const { service } = await connect();
    type Answer = { repositories: { name: string; enabled_products: string[] }[] };
    const found = await service.get<Answer>(v1('repos', owner));
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
  summary: 'switch on these products of a repository, and all others off',
  examples: [
    ['holdfast products set acme/web merge_protections', 'Switch freezes on'],
    ['holdfast products set acme/web none', 'Switch everything off: what is frozen is let go'],
  ],
  async run({ output, connect }, _options, text, names) {
    const { owner, repository } = readRepository(text);
    const { service } = await connect();
    const products = readProducts(names);
    await service.put(v1('products', owner, repository), { products });
    output.line(`${text} has ${products.join(', ') || 'no products'}.`);
    output.json({ products });
  },
});

const defaults = command<object, [owner: string, products: string[]]>({
  usage: 'default <owner> [products...]',
  summary: 'show what new repositories of an owner start with, or set it',
  examples: [
    ['holdfast products default acme', 'Show it'],
    ['holdfast products default acme merge_protections merge_queue', 'Set it'],
  ],
  async run({ output, connect }, _options, text, names) {
    const owner = readOwner(text);
    const { service } = await connect();
    const path = v1('default_products', owner);
    if (names.length > 0) await service.put(path, { products: readProducts(names) });
    const { products } = await service.get<{ products: string[] }>(path);
    output.line(`New repositories of ${owner} start with ${products.join(', ') || 'no products'}.`);
    output.json({ products });
  },
});

const readProducts = (names: string[]): string[] => (names.join() === 'none' ? [] : names);

export const products: CommandSpec = {
  usage: 'products',
  summary: 'what is switched on in repositories',
  below: [list, set, defaults],
};
