// `npm run docs`: writes the commands of docs/command-line.md as `--help` has them. A test fails when they differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { prove } from '../src/prove/prove.ts';
import { db } from '../src/server/archive/db-commands.ts';
import type { CommandSpec } from '../src/cli/command.ts';
import { allCommands } from '../src/cli/program.ts';
import { worldVariables } from '../src/cli/world.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** A section for each command that does something: what it does, how it is called, and its options. */
function sections(specs: CommandSpec[], above: string): string[] {
  return specs
    .filter(({ isHidden }) => !isHidden)
    .flatMap(({ usage, summary, options = [], examples = [], notes, run, below = [] }) => {
      const name = `${above} ${usage}`;
      if (!run) return sections(below, name);
      const rows = options.map(
        ([flags, does, kind]) =>
          `| \`${cell(flags)}\` | ${cell(does)}${kind === 'required' ? ' (required)' : ''} |`,
      );
      return [
        `### \`${name}\``,
        `${summary[0]!.toUpperCase()}${summary.slice(1)}.`,
        ...(examples.length > 0
          ? [['```sh', ...examples.map(([line, does]) => `# ${does}\n${line}`), '```'].join('\n')]
          : []),
        ...(rows.length > 0 ? [['| option | what it does |', '| --- | --- |', ...rows].join('\n')] : []),
        ...(notes ? [['```', notes, '```'].join('\n')] : []),
      ];
    });
}

const variableTable = (): string =>
  [
    '| variable | what it is |',
    '| --- | --- |',
    ...Object.entries(worldVariables).map(([name, what]) => `| \`${name}\` | ${what} |`),
  ].join('\n');

const parts: Record<string, () => string | Promise<string>> = {
  variables: variableTable,
  commands: async () =>
    sections(await allCommands({ db: async () => db, prove: async () => prove }), 'holdfast').join('\n\n'),
};

/** The document with each generated part as it should be. */
export async function withGeneratedCommands(document: string): Promise<string> {
  let written = document;
  for (const [name, generate] of Object.entries(parts)) {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const from = written.indexOf(begin);
    const to = written.indexOf(end);
    if (from < 0 || to < from) throw new Error(`docs/command-line.md lacks ${begin} … ${end}.`);
    written = `${written.slice(0, from + begin.length)}\n\n${await generate()}\n\n${written.slice(to)}`;
  }
  return format(written, { ...(await resolveConfig(path)), parser: 'markdown' });
}

const path = new URL('command-line.md', import.meta.url).pathname;

if (import.meta.main) writeFileSync(path, await withGeneratedCommands(readFileSync(path, 'utf8')));
