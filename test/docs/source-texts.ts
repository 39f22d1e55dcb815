// What the source says to people, read from its syntax tree. In a text `…` stands for what is filled in.
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

/** Nodes of files whose path matches, those inside of others too. */
function* nodesOf(paths: RegExp): Generator<ts.Node> {
  function* below(node: ts.Node): Generator<ts.Node> {
    yield node;
    for (const child of node.getChildren()) yield* below(child);
  }
  for (const [path, file] of sources) if (paths.test(path)) yield* below(file);
}

const productOf = (parts: string[][]): string[] =>
  parts.reduce((left, right) => left.flatMap((one) => right.map((other) => one + other)), ['']);

/** The texts that an expression may have. Names are looked up in their file. */
export function textsOf(node: ts.Node, depth = 0): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node))
    return [node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')];
  if (ts.isTaggedTemplateExpression(node))
    return textsOf(node.template).map((text) => text.replace(/\s+/g, ' '));
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression, depth);
  if (ts.isConditionalExpression(node))
    return [...textsOf(node.whenTrue, depth), ...textsOf(node.whenFalse, depth)];
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return productOf([textsOf(node.left, depth), textsOf(node.right, depth)]);
  if (ts.isIdentifier(node) && depth < 5) {
    const declaration = declarationOf(node);
    if (declaration) return textsOf(declaration, depth + 1);
  }
  return ['…'];
}

/** What a `const` is given, by the innermost block around the place where it is named. */
function declarationOf(name: ts.Identifier): ts.Expression | null {
  for (let scope: ts.Node = name.parent; scope; scope = scope.parent) {
    if (!ts.isBlock(scope) && !ts.isSourceFile(scope) && !ts.isCaseClause(scope)) continue;
    for (const statement of scope.statements) {
      if (!ts.isVariableStatement(statement)) continue;
      const found = statement.declarationList.declarations.find((each) => each.name.getText() === name.text);
      if (found?.initializer) return found.initializer;
    }
  }
  return null;
}

const unique = (texts: string[]): string[] => [...new Set(texts.filter((text) => text !== '…'))];

/** The texts of one argument of all calls of a function, such as `conflict` or `log.warn`; `new` counts as a call. */
export function argumentsOf(callee: RegExp, index: number, paths = /./): string[] {
  const texts = [...nodesOf(paths)].flatMap((node) => {
    const isCall = ts.isCallExpression(node) || ts.isNewExpression(node);
    const argument = isCall && callee.test(node.expression.getText()) && node.arguments?.[index];
    if (!argument) return [];
    return ts.isArrayLiteralExpression(argument)
      ? argument.elements.flatMap((each) => textsOf(each))
      : textsOf(argument);
  });
  return unique(texts);
}

/** The texts of a property of object literals. */
export function propertiesOf(property: string, paths: RegExp): string[] {
  const texts = [...nodesOf(paths)].flatMap((node) => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === property) return textsOf(node.initializer);
    return ts.isShorthandPropertyAssignment(node) && node.name.text === property ? textsOf(node.name) : [];
  });
  return unique(texts);
}

/** Every text of some files. */
export function allTexts(paths = /./): string[] {
  const texts = [...nodesOf(paths)].flatMap((node) =>
    ts.isStringLiteralLike(node) ||
    ts.isTemplateExpression(node) ||
    ts.isTaggedTemplateExpression(node) ||
    ts.isBinaryExpression(node)
      ? textsOf(node)
      : [],
  );
  return unique(texts);
}

/** Every name of a property or a variable that a file uses. */
export function namesIn(path: string): string[] {
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.')}$`);
  return unique([...nodesOf(pattern)].filter((node) => ts.isIdentifier(node)).map(({ text }) => text));
}
