// The texts in the source, by its syntax tree: each unchanged, with `…` for the values in a template.
// Nothing is evaluated: of texts that are put together each part is one, and an argument or a property has the first.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const folder = fileURLToPath(new URL('../../src/', import.meta.url));

/** Every file of `src/`, by its path below it. */
export const sources = new Map(
  globSync('**/*.ts', { cwd: folder })
    .filter((path) => !path.startsWith('generated'))
    .toSorted()
    .map((path) => {
      const text = readFileSync(`${folder}${path}`, 'utf8');
      return [path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)] as const;
    }),
);

/** A node with all inside of it. */
function below(node: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = [];
  const add = (each: ts.Node) => {
    nodes.push(each);
    ts.forEachChild(each, add);
  };
  add(node);
  return nodes;
}

const nodes = new Map(sources.entries().map(([path, file]) => [path, below(file)]));

function* nodesOf(paths: RegExp): Generator<ts.Node> {
  for (const [path, inside] of nodes) if (paths.test(path)) yield* inside;
}

/** An expression with its beginning: without what follows a `+`, and without the values in a template. */
function* beginnings(node: ts.Node): Generator<ts.Node> {
  yield node;
  if (ts.isTemplateExpression(node)) return;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of ts.isBinaryExpression(node) ? children.slice(0, 1) : children) yield* beginnings(child);
}

/** The texts in a piece of source, without those that are no words. */
function textsIn(nodes: Iterable<ts.Node>): string[] {
  const texts = [];
  for (const node of nodes) {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node))
      texts.push(node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join(''));
  }
  return [...new Set(texts.map((text) => text.replace(/\s+/g, ' ')))].filter((text) =>
    /[A-Za-z]{3}/.test(text),
  );
}

/** The texts of one argument of all calls of a function, such as `conflict` or `log.warn`; `new` counts as a call. */
export function argumentsOf(callee: RegExp, index: number, paths = /./): string[] {
  const given = [...nodesOf(paths)].flatMap((node) => {
    const isCall = ts.isCallExpression(node) || ts.isNewExpression(node);
    const argument = isCall && callee.test(node.expression.getText()) && node.arguments?.[index];
    return argument && !ts.isObjectLiteralExpression(argument) ? [...beginnings(argument)] : [];
  });
  return textsIn(given);
}

/** The texts of a property of object literals. */
export const propertiesOf = (name: string, paths: RegExp): string[] =>
  valuesOf(name, paths, ts.isPropertyAssignment);

/** The texts of variables of a name. */
export const variablesOf = (name: string, paths: RegExp): string[] =>
  valuesOf(name, paths, ts.isVariableDeclaration);

function valuesOf(
  name: string,
  paths: RegExp,
  isOne: (node: ts.Node) => node is ts.PropertyAssignment | ts.VariableDeclaration,
): string[] {
  const given = [...nodesOf(paths)].flatMap((node) =>
    isOne(node) && node.name.getText() === name && node.initializer ? [...beginnings(node.initializer)] : [],
  );
  return textsIn(given);
}

/** Every text of some files. */
export const allTexts = (paths = /./): string[] => textsIn(nodesOf(paths));

/** Every name of a property or a variable that a file uses. */
export function namesIn(path: string): string[] {
  const names = nodes
    .get(path)!
    .filter((node) => ts.isIdentifier(node))
    .map(({ text }) => text);
  return [...new Set(names)];
}
