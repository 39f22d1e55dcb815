// The functions of a source file by their ordinal, and the file with a probe in each of them.
import ts from 'typescript';

/** Every function that has a body, in the order of the text. */
export function functionsOf(source: ts.SourceFile): Map<ts.Node, number> {
  const functions = new Map<ts.Node, number>();
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) functions.set(node, functions.size);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return functions;
}

/** @returns the text in which each function notes that it was reached, as `file#ordinal`. */
export function withProbes(file: string, text: string): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const insertions: { at: number; text: string }[] = [];
  for (const [node, ordinal] of functionsOf(source)) {
    const { body } = node as ts.ArrowFunction;
    const probe = `globalThis.reachedFunctions?.add(${JSON.stringify(`${file}#${ordinal}`)})`;
    if (ts.isBlock(body)) insertions.push({ at: body.getStart() + 1, text: `${probe};` });
    else insertions.push({ at: body.getStart(), text: `(${probe}, ` }, { at: body.end, text: ')' });
  }
  let probed = text;
  for (const one of insertions.sort((a, b) => b.at - a.at))
    probed = probed.slice(0, one.at) + one.text + probed.slice(one.at);
  return probed;
}
