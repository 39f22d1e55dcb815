// What a file of src/ may import, types included: the rules of the rooms (rooms.ts) and of pure code (pure.ts).
import { globSync, readFileSync } from 'node:fs';
import { dirname, matchesGlob, relative, resolve } from 'node:path';
import type { Rule } from 'eslint';
import { pure, shipped } from './pure.ts';
import { doors, floors, takesTasks } from './rooms.ts';

const root = resolve(import.meta.dirname, '..');
const below = (file: string): string => relative(root, file).replaceAll('\\', '/');
const roomOf = (file: string): string => file.split('/')[1] ?? '';
const isOurs = (file: string): boolean => file.startsWith('src/') && !file.startsWith('src/generated/');

/** @property file, target paths below the root. @property names what is imported; null if everything is, or it is not said. */
type Import = { file: string; target: string; isType: boolean; names: string[] | null };

/** As ESTree and the parser of TypeScript have it. */
type Node = Rule.Node & {
  source?: { value?: unknown } | null;
  importKind?: string;
  exportKind?: string;
  specifiers?: { imported?: { name: string } }[];
};

/** A rule about relative imports. @param check gives what is wrong with one; null for nothing. */
const importRule = (check: (found: Import) => string | null): Rule.RuleModule => ({
  create(context) {
    const look = (given: Rule.Node): void => {
      const node = given as Node;
      const source = node.source?.value;
      if (typeof source !== 'string' || !source.startsWith('.')) return;
      const names = node.specifiers?.map(({ imported }) => imported?.name ?? '*') ?? null;
      const message = check({
        file: below(context.filename),
        target: below(resolve(dirname(context.filename), source)),
        isType:
          node.importKind === 'type' ||
          node.exportKind === 'type' ||
          given.type === ('TSImportType' as string),
        names,
      });
      if (message !== null) context.report({ node, message });
    };
    return {
      ImportDeclaration: look,
      ExportNamedDeclaration: look,
      ExportAllDeclaration: look,
      ImportExpression: look,
      TSImportType: look,
    };
  },
});

/** How many files of a room may lead to each other in a circle. */
const longestCircle = 7;

const importsOf = (file: string): string[] =>
  [...readFileSync(resolve(root, file), 'utf8').matchAll(/\b(?:from|import\()\s*'(\.[^']+)'/g)]
    .map(([, source]) => below(resolve(root, dirname(file), source!)))
    .filter(isOurs);

let graph: Map<string, string[]> | undefined;
/** What each file imports. Read once. */
const imports = (): Map<string, string[]> =>
  (graph ??= new Map(
    globSync('src/**/*.ts', { cwd: root })
      .map((file) => file.replaceAll('\\', '/'))
      .filter(isOurs)
      .map((file) => [file, importsOf(file)]),
  ));

/** The files that a file leads to within its room: itself too if it is in a circle. */
function reachedFrom(file: string, importsBy: (file: string) => string[]): Set<string> {
  const reached = new Set<string>();
  const open = [file];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const target of importsBy(next))
      if (roomOf(target) === roomOf(file) && !reached.has(target)) {
        reached.add(target);
        open.push(target);
      }
  return reached;
}

/** The files that lead to a file and that it leads to. Across rooms there are none: imports only go down. */
export const circleOf = (file: string, importsBy: (file: string) => string[]): string[] =>
  [...reachedFrom(file, importsBy)].filter((other) => reachedFrom(other, importsBy).has(file)).toSorted();

export const rules: Record<string, Rule.RuleModule> = {
  pure: importRule(({ target, isType }) =>
    isType || pure.some((glob) => matchesGlob(target, glob))
      ? null
      : `Pure code imports pure code: ${target} is not in \`pure\` of lint/pure.ts.`,
  ),
  shipped: importRule(({ target }) =>
    shipped.some((glob) => matchesGlob(target, glob))
      ? null
      : `The command line is installed without the service: ${target} is not in \`shipped\` of lint/pure.ts.`,
  ),
  floors: importRule(({ file, target }) => {
    const [own, other] = [file, target].map((path) => floors.indexOf(roomOf(path)));
    if (own === -1) return `Give ${roomOf(file)} its place among the rooms of lint/rooms.ts.`;
    return own! <= other! || !isOurs(target)
      ? null
      : `${roomOf(file)} stands below ${roomOf(target)}: it must not import from there.`;
  }),
  doors: importRule(({ file, target, names }) => {
    const room = roomOf(target);
    const open = doors[room];
    if (!open || !isOurs(target) || room === roomOf(file)) return null;
    if (file === takesTasks && names?.every((name) => name.endsWith('Task'))) return null;
    return open.includes(target.slice(`src/${room}/`.length))
      ? null
      : `${target} is no door of ${room}/. These are: ${open.join(', ')} (lint/rooms.ts).`;
  }),
  circles: {
    create: (context) => ({
      Program(node) {
        const circle = circleOf(below(context.filename), (file) => imports().get(file) ?? []);
        if (circle.length > longestCircle)
          context.report({
            node,
            message: `${circle.length} files import each other: ${circle.join(', ')}.`,
          });
      },
    }),
  },
};
