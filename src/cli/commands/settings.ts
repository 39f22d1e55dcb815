import type { Cell } from '../terminal.ts';
import { command, type CommandSpec, ownerCommand } from '../command.ts';
import { misused } from '../stop.ts';
import { nameOfTarget, readPlace, readRepository } from '../target.ts';
import type { Schemas } from '../service/service.ts';

type SettingValue = boolean | number | string | string[] | null;

export const settingsCommand = command<object, [target: string, changes: string[]]>({
  usage: 'settings <target> [changes...]',
  summary: 'show or change the settings of a repository, or the defaults of an owner',
  examples: [
    ['holdfast settings acme/web', 'See the settings of a repository, and which ones it has from its owner'],
    ['holdfast settings acme/web two_person_exemptions=true', 'Require a second person for each exemption'],
    ['holdfast settings acme freezers=ada,@acme/release', 'Let people freeze who are not admins'],
    ['holdfast settings acme/web freezers=', 'Remove a setting: the repository uses the one of its owner'],
  ],
  notes: 'A list has commas between its parts, and [] is an empty list.',
  async run({ output, connect }, _options, text, changes) {
    const { owner, repository } = readPlace(text);
    const { service } = await connect();
    const change = Object.fromEntries(changes.map(readChange));
    const isChange = changes.length > 0;
    const found =
      repository === null
        ? await (isChange
            ? service.patch('/settings/{owner}', { owner }, change)
            : service.get('/settings/{owner}', { owner }))
        : await (isChange
            ? service.patch('/repos/{owner}/{repository}/settings', { owner, repository }, change)
            : service.get('/repos/{owner}/{repository}/settings', { owner, repository }));
    const {
      warnings = [],
      inherited = [],
      ...values
    } = found as Record<string, unknown> & {
      warnings?: string[];
      inherited?: string[];
    };
    output.table(
      ['SETTING', 'VALUE', 'SET BY'],
      Object.entries(values).map(([name, value]): Cell[] => [
        name,
        shownSetting(value as SettingValue),
        inherited.includes(name) ? 'owner or default' : nameOfTarget({ owner, repository }),
      ]),
    );
    for (const warning of warnings) output.note(`Warning: ${warning}`);
    output.json(found);
  },
});

const shownSetting = (value: SettingValue): string =>
  Array.isArray(value) ? value.join(', ') || 'none' : value === null ? 'none' : String(value);

const lists = ['freezers', 'approvers'];

/** Reads `name=value`. The service says what is wrong with a value. @throws Stop for anything else. */
function readChange(text: string): [name: string, value: SettingValue] {
  const at = text.indexOf('=');
  if (at < 1) throw misused(`"${text}" is not a change. Write name=value, such as comment_commands=false.`);
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  return [name, valueOf(name, value)];
}

function valueOf(name: string, text: string): SettingValue {
  if (text === '' || text === 'null') return null;
  if (text === '[]') return [];
  if (lists.includes(name)) return text.split(',').map((part) => part.trim());
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+$/.test(text) ? Number(text) : text;
}

const listSettings = ownerCommand<object>({
  usage: 'list <owner>',
  summary: 'list the repositories of an owner, with their products',
  examples: [['holdfast products list acme', 'See where freezes are switched on']],
  async run({ output, owner, service }) {
    const found = await service.get('/repos/{owner}', { owner });
    output.table(
      ['REPOSITORY', 'PRODUCTS'],
      found.repositories
        .filter(({ name }) => !found.archived?.includes(name))
        .map(({ name, enabled_products }) => [`${owner}/${name}`, enabled_products.join(', ') || 'none']),
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

const defaults = ownerCommand<object, [products: string[]]>({
  usage: 'default <owner> [products...]',
  summary: 'show or set the products of new repositories of an owner',
  examples: [
    ['holdfast products default acme', 'Show the default products'],
    ['holdfast products default acme merge_protections merge_queue', 'Set the default products'],
  ],
  async run({ output, owner, service }, _options, names) {
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

export const productsCommand: CommandSpec = {
  usage: 'products',
  summary: 'manage the products of repositories',
  below: [listSettings, set, defaults],
};
