import { command, type CommandSpec } from '../command.ts';

const test = command<object, []>({
  usage: 'test',
  summary: 'evaluate conditions: read JSON lines and print one JSON line for each',
  examples: [
    [
      `echo '{"condition": "label=hotfix", "pull_request": {"label": ["hotfix"]}}' | holdfast conditions test`,
      'Try a condition on a pull request that you describe',
    ],
  ],
  notes: `A line of input. Fields that you leave out are null or empty; "now" is the current time:
  {"condition": "label=hotfix", "pull_request": {"label": ["hotfix"]}, "now": "2026-03-01T09:00:00Z"}
"condition" can be a group. "teams" can name the members of teams: {"@acme/core": ["mona"]}.
The line of output:
  {"match": true, "reasons": [...], "next_change_at": null}   or   {"error": {"message": "...", "column": 1}}`,
  async run({ world, output }) {
    const { testConditions } = await import('../test-conditions.ts');
    const lines = await testConditions(world.input, world.out);
    if (lines === 0) output.note('There is nothing to test: write JSON lines to standard input.');
  },
});

const attributes = command<object, []>({
  usage: 'attributes',
  summary: 'print the attributes that you can use in conditions',
  examples: [['holdfast conditions attributes --json', 'Print one JSON object on each line']],
  async run({ world, options }) {
    const { attributeRows } = await import('../../conditions/needs.ts');
    const rows = attributeRows();
    const width = Math.max(...rows.map(({ name }) => name.length));
    const indent = ' '.repeat(width + 2);
    for (const row of rows) {
      const { name, type, operators, modifiers, source, cost, description, decidedBy } = row;
      const written = [modifiers.join(' '), operators.join(' ')].filter(Boolean).join('  ');
      world.out.write(
        options.json
          ? `${JSON.stringify(row)}\n`
          : `${name.padEnd(width)}  ${type}  ${written}\n${indent}${description}\n${indent}decided by: ${decidedBy}\n${indent}from ${source}; costs ${cost}\n`,
      );
    }
  },
});

export const conditionsCommand: CommandSpec = {
  usage: 'conditions',
  summary: 'test conditions, and list what they can use',
  below: [test, attributes],
};
