// Which small faults could be put into a file of `src/`. It reads text and gives values; nothing is run here.
import { createHash } from 'node:crypto';
import ts from 'typescript';
import { functionsOf } from './functions.ts';
import { predicatesIn } from './sql-predicates.ts';

export const kinds = ['condition', 'limit', 'await', 'sql', 'check'] as const;
export type Kind = (typeof kinds)[number];

/** Put `replacement` where the file has the characters from `start` to `end`. */
export type Mutant = {
  /** Stays the same when other parts of the file change. */
  id: string;
  file: string;
  line: number;
  kind: Kind;
  start: number;
  end: number;
  replacement: string;
  /** The whole expression or statement, before and after. */
  from: string;
  to: string;
  /** The ordinal of the function that it stands in, see `functionsOf`; null at the level of the module. */
  within: number | null;
};

/** Every candidate of a file, in the order of the text. @param file its path below the root of the repository. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const functions = functionsOf(source);
  const mutants: Mutant[] = [];
  const seen = new Map<string, number>();

  const visit = (node: ts.Node, within: number | null): void => {
    if (isLeftOut(node)) return;
    const inside = functions.get(node) ?? within;
    for (const { kind, start, end, replacement, shown = node } of changesOf(node)) {
      const [first, last] = [shown.getStart(), shown.end];
      const from = text.slice(first, last);
      const to = text.slice(first, start) + replacement + text.slice(end, last);
      const key = [file, kind, from, to].join('\0');
      const ordinal = seen.get(key) ?? 0;
      seen.set(key, ordinal + 1);
      const id = createHash('sha256').update(`${key}\0${ordinal}`).digest('hex').slice(0, 10);
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      mutants.push({ id, file, line, kind, start, end, replacement, from, to, within: inside });
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, null);
  return mutants;
}

/** @returns the text of the file with the fault in it. */
export const apply = (text: string, { start, end, replacement }: Mutant): string =>
  text.slice(0, start) + replacement + text.slice(end);

/** Whether the text can be parsed. Node takes the types out; it does not look at what they say. */
export function isValid(text: string): boolean {
  const options = { target: ts.ScriptTarget.Latest, module: ts.ModuleKind.ESNext };
  return !ts.transpileModule(text, { compilerOptions: options, reportDiagnostics: true }).diagnostics?.length;
}

/** Types do nothing when the code runs. Nobody need test what a log says. */
function isLeftOut(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) return true;
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return true;
  return ts.isCallExpression(node) && /\blog(ger)?\??\.\w+$/.test(node.expression.getText());
}

/** @property shown what the change is part of, if not the node itself. */
type Change = { kind: Kind; start: number; end: number; replacement: string; shown?: ts.Node };

function changesOf(node: ts.Node): Change[] {
  if (ts.isBinaryExpression(node)) return operatorOf(node);
  if (ts.isIfStatement(node)) return [...turned(node.expression), ...withoutExit(node)];
  if (ts.isConditionalExpression(node)) return turned(node.condition);
  if (ts.isPrefixUnaryExpression(node)) return withoutNot(node);
  if (ts.isExpressionStatement(node)) return withoutAwaitOrCheck(node);
  if (ts.isNumericLiteral(node)) return movedNumber(node);
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node))
    return withoutPredicates(node);
  if (ts.isPropertyAssignment(node)) return withoutWhere(node);
  return [];
}

const otherOperators: Partial<Record<ts.SyntaxKind, [Kind, string]>> = {
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: ['condition', '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: ['condition', '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken]: ['condition', '||'],
  [ts.SyntaxKind.BarBarToken]: ['condition', '&&'],
  [ts.SyntaxKind.LessThanToken]: ['limit', '<='],
  [ts.SyntaxKind.LessThanEqualsToken]: ['limit', '<'],
  [ts.SyntaxKind.GreaterThanToken]: ['limit', '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken]: ['limit', '>'],
};

function operatorOf({ left, operatorToken, right }: ts.BinaryExpression): Change[] {
  const other = otherOperators[operatorToken.kind];
  if (!other) return [];
  const [kind, replacement] = other;
  if (kind === 'limit' && (isZero(left) || isZero(right))) return [];
  return [{ kind, replacement, ...rangeOf(operatorToken) }];
}

/** What is compared with nothing asks whether there is any, and has no limit. To turn the condition is the fault. */
const isZero = (side: ts.Expression) => ts.isNumericLiteral(side) && side.text === '0';

/** Not where the operator itself is turned: that is the same fault. */
function turned(condition: ts.Expression): Change[] {
  if (ts.isPrefixUnaryExpression(condition)) return [];
  if (ts.isBinaryExpression(condition) && /^[!=]==$/.test(condition.operatorToken.getText())) return [];
  const replacement = `!(${condition.getText()})`;
  return [{ kind: 'condition', replacement, shown: condition, ...rangeOf(condition) }];
}

function withoutNot(node: ts.PrefixUnaryExpression): Change[] {
  const isNot = (one: ts.Node) =>
    ts.isPrefixUnaryExpression(one) && one.operator === ts.SyntaxKind.ExclamationToken;
  if (!isNot(node) || isNot(node.operand) || isNot(node.parent)) return [];
  return [{ kind: 'condition', replacement: node.operand.getText(), ...rangeOf(node) }];
}

/** An `if` that only leaves. */
function withoutExit(node: ts.IfStatement): Change[] {
  if (node.elseStatement) return [];
  const { thenStatement: then } = node;
  const only = ts.isBlock(then) && then.statements.length === 1 ? then.statements[0]! : then;
  const leaves =
    ts.isReturnStatement(only) ||
    ts.isThrowStatement(only) ||
    ts.isContinueStatement(only) ||
    ts.isBreakStatement(only);
  // Where there is nothing to do, doing it gives the same.
  const isShortcut =
    /\.(length|size) === 0$/.test(node.expression.getText()) &&
    /^(return( \[\])?|continue);$/.test(only.getText());
  return leaves && !isShortcut ? [{ kind: 'check', replacement: ';', ...rangeOf(node) }] : [];
}

function withoutAwaitOrCheck(node: ts.ExpressionStatement): Change[] {
  const awaited = ts.isAwaitExpression(node.expression) ? node.expression.expression : null;
  const called = awaited ?? node.expression;
  const changes: Change[] = [];
  if (awaited) changes.push({ kind: 'await', replacement: late(awaited), ...rangeOf(node) });
  const name = ts.isCallExpression(called) ? called.expression.getText() : '';
  if (/(^|\.)(assert|refuse|check|require|ensure|guard)\w*$/.test(name))
    changes.push({ kind: 'check', replacement: ';', ...rangeOf(node) });
  return changes;
}

/**
 * Nobody waits for it, and it comes after what follows, as on a busy machine. Without the delay, the one connection of an
 * embedded database would keep the order, and most such mutants would change nothing.
 */
const late = (awaited: ts.Expression): string =>
  `void (async () => { await new Promise((go) => setTimeout(go, 100)); await (${awaited.getText()}); })();`;

/** A number that something is compared with, a constant of the module, or a limit of a schema. */
function movedNumber(node: ts.NumericLiteral): Change[] {
  const { parent } = node;
  const isCompared =
    ts.isBinaryExpression(parent) && /^[<>]=?$/.test(parent.operatorToken.getText()) && !isZero(node);
  const isLimit = ts.isCallExpression(parent) && /\.(min|max|length)$/.test(parent.expression.getText());
  // A factor of a duration or a size is none: one more moves it by little.
  const isConstant = ts.isVariableDeclaration(parent) && ts.isSourceFile(parent.parent.parent.parent);
  if (!isCompared && !isLimit && !isConstant) return [];
  // One millisecond more is no fault that anybody could see.
  const value = Number(node.text);
  const replacement = String(value < 1000 ? value + 1 : value * 2);
  return [{ kind: 'limit', replacement, shown: parent, ...rangeOf(node) }];
}

/** A predicate that is always true: parameters and their types stay. */
function withoutPredicates(
  node: ts.StringLiteral | ts.NoSubstitutionTemplateLiteral | ts.TemplateExpression,
): Change[] {
  const start = node.getStart();
  const holes = ts.isTemplateExpression(node)
    ? node.templateSpans.map((span) => ({
        start: span.expression.pos - 2 - start,
        end: span.literal.getStart() + 1 - start,
      }))
    : [];
  const text = node.getText();
  return predicatesIn(text, holes).map((found) => ({
    kind: 'sql',
    start: start + found.start,
    end: start + found.end,
    replacement: `(${text.slice(found.start, found.end)} OR true)`,
  }));
}

/** One of several conditions in Prisma's `where`. */
function withoutWhere(node: ts.PropertyAssignment): Change[] {
  if (node.name.getText() !== 'where' || !ts.isObjectLiteralExpression(node.initializer)) return [];
  const { properties } = node.initializer;
  if (properties.length < 2) return [];
  return properties.map((one) => ({ kind: 'sql', replacement: '...{}', ...rangeOf(one) }));
}

const rangeOf = (node: ts.Node) => ({ start: node.getStart(), end: node.end });
