import type { Writable } from 'node:stream';
import { attributeRows } from '../conditions/attribute-rows.ts';

/** Prints the table of attributes: for people, or as JSON lines for programs. */
export function printAttributes(output: Writable, isJson: boolean): void {
  const rows = attributeRows();
  if (isJson) {
    for (const row of rows) output.write(`${JSON.stringify(row)}\n`);
    return;
  }
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, type, operators, modifiers, source, cost, description, decidedBy } of rows) {
    const asked = [modifiers.map((each) => each).join(' '), operators.join(' ')].filter(Boolean).join('  ');
    const indent = ' '.repeat(width + 2);
    output.write(
      `${name.padEnd(width)}  ${type}  ${asked}\n${indent}${description}\n${indent}decided by: ${decidedBy}\n${indent}from ${source}; costs ${cost}\n`,
    );
  }
}
