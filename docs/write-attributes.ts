// `npm run docs`: writes the tables of docs/conditions.md that say what the code says. A test fails when they differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { attributeRows } from '../src/conditions/needs.ts';
import { aliases, refusedNames } from '../src/conditions/attributes/rows.ts';
import { commitFields } from '../src/conditions/attributes.ts';

const code = (text: string): string => `\`${text}\``;

function attributeTable(): string {
  const rows = attributeRows().map((row) => {
    const { name, type, modifiers, operators, source, cost, description, decidedBy } = row;
    const asked = operators.length > 0 ? operators.map(code).join(' ') : 'none';
    return `| ${code(name)} | ${type} | ${modifiers.map(code).join(' ') || 'none'} | ${asked} | ${description} | ${decidedBy} | ${source} | ${cost} |`;
  });
  return [
    '| attribute | type | in front | operators | what it has | who decides it | from | costs to load |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function refusedTable(): string {
  const rows = Object.entries(refusedNames).map(([name, why]) => `| ${code(name)} | ${why} |`);
  return ['| name | why |', '| --- | --- |', ...rows].join('\n');
}

const former = () => Object.entries(aliases).map(([name, present]) => `${code(name)} (${code(present)})`);

const fields = () => Object.entries(commitFields).map(([name, type]) => `${code(name)} (${type})`);

const parts: Record<string, () => string> = {
  attributes: attributeTable,
  refused: refusedTable,
  'former names': () => `You can still use these former names: ${former().join(', ')}.`,
  'commit fields': () => `Fields of a commit: ${fields().join(', ')}.`,
};

/** The document with each generated part as it should be. */
export async function withGeneratedParts(document: string): Promise<string> {
  let written = document;
  for (const [name, generate] of Object.entries(parts)) {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const from = written.indexOf(begin);
    const to = written.indexOf(end);
    if (from < 0 || to < from) throw new Error(`docs/conditions.md lacks ${begin} … ${end}.`);
    written = `${written.slice(0, from + begin.length)}\n\n${generate()}\n\n${written.slice(to)}`;
  }
  return format(written, { ...(await resolveConfig(path)), parser: 'markdown' });
}

const path = new URL('conditions.md', import.meta.url).pathname;

if (import.meta.main) writeFileSync(path, await withGeneratedParts(readFileSync(path, 'utf8')));
