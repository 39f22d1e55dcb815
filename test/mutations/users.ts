// Who uses a value of a module. A constant has no moment at which it runs: the functions that read it stand for it.
import { dirname, posix } from 'node:path';
import ts from 'typescript';
import { functionsOf } from './functions.ts';

type Statement = {
  start: number;
  end: number;
  declares: string[];
  /** The names outside of its functions. */
  mentions: Set<string>;
  /** The ordinals of its functions. */
  functions: number[];
};
type Parsed = {
  statements: Statement[];
  /** The names in each function, by its ordinal; not those in functions within it. */
  mentions: Set<string>[];
  imports: { from: string; name: string; local: string }[];
};

/**
 * The functions, as `file#ordinal`, that use what the statement of the module at a position of a file declares.
 * @param within the function there. It runs only while modules are loaded; its value is used by others.
 */
export type Users = (file: string, position: number, within: number | null) => Set<string>;

export function usersIn(sources: Map<string, string>): Users {
  const parsed = new Map([...sources].map(([file, text]) => [file, parse(file, text)]));

  type Search = { seen: Set<string>; users: Set<string> };
  /** A route's schema stands with the handler of that route; what has no functions, with those who use it. */
  const usersOf = (file: string, { functions, declares }: Statement, search: Search): void => {
    for (const ordinal of functions) search.users.add(`${file}#${ordinal}`);
    if (functions.length === 0) for (const name of declares) follow(file, name, search);
  };
  const follow = (file: string, name: string, search: Search): void => {
    if (search.seen.has(`${file} ${name}`)) return;
    search.seen.add(`${file} ${name}`);
    const { statements, mentions } = parsed.get(file)!;
    mentions.forEach((inside, ordinal) => inside.has(name) && search.users.add(`${file}#${ordinal}`));
    for (const one of statements) if (one.mentions.has(name)) usersOf(file, one, search);
    for (const [other, { imports }] of parsed)
      for (const { from, name: asked, local } of imports)
        if (from === file && (asked === name || asked === '*')) follow(other, local, search);
  };
  return (file, position, within) => {
    const search = { seen: new Set<string>(), users: new Set<string>() };
    const statement = parsed
      .get(file)!
      .statements.find(({ start, end }) => start <= position && position < end);
    if (statement) usersOf(file, within === null ? statement : { ...statement, functions: [] }, search);
    return search.users;
  };
}

function parse(file: string, text: string): Parsed {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const functions = functionsOf(source);
  const mentions = [...functions].map(() => new Set<string>());
  const visit = (node: ts.Node, names: Set<string>): void => {
    const own = functions.get(node);
    const inside = own === undefined ? names : mentions[own]!;
    if (ts.isIdentifier(node)) inside.add(node.text);
    if (!ts.isTypeNode(node)) ts.forEachChild(node, (child) => visit(child, inside));
  };
  const statements: Statement[] = [];
  const imports: Parsed['imports'] = [];
  for (const one of source.statements) {
    if (ts.isImportDeclaration(one)) imports.push(...importsOf(file, one));
    else {
      const { pos: start, end } = one;
      const own = [...functions].filter(([node]) => start <= node.pos && node.end <= end);
      const mentioned = new Set<string>();
      visit(one, mentioned);
      const ordinals = own.map(([, ordinal]) => ordinal);
      statements.push({ start, end, declares: declaredBy(one), mentions: mentioned, functions: ordinals });
    }
  }
  return { statements, mentions, imports };
}

function declaredBy(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => namesOf(name));
  const { name } = statement as ts.FunctionDeclaration;
  return name ? [name.text] : [];
}

const namesOf = (name: ts.BindingName): string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((one) => (ts.isBindingElement(one) ? namesOf(one.name) : []));

function importsOf(file: string, { moduleSpecifier, importClause }: ts.ImportDeclaration): Parsed['imports'] {
  const path = (moduleSpecifier as ts.StringLiteral).text;
  const bindings = importClause?.namedBindings;
  if (!path.startsWith('.') || !bindings) return [];
  const from = posix.join(dirname(file), path);
  if (ts.isNamespaceImport(bindings)) return [{ from, name: '*', local: bindings.name.text }];
  return bindings.elements.map(({ name, propertyName }) => ({
    from,
    name: (propertyName ?? name).text,
    local: name.text,
  }));
}
