// `npm run bench`: prints one JSON line for each figure and writes bench/results.md. Every figure stands beside a floor
// that was measured in the same run: the machines are shared, and only ratios travel.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { benchConditions } from './conditions.ts';

const results = [benchConditions()];
for (const result of results) console.log(JSON.stringify(result));

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const machine = `${cpus().length} × ${cpus()[0]!.model.trim()}, Node ${process.versions.node}`;
const date = new Date().toISOString().slice(0, 10);
const lines = results.map((result) => `\`\`\`json\n${JSON.stringify(result, null, 2)}\n\`\`\``);
const text = `# What \`npm run bench\` measured\n\n${date}, at or after commit ${commit}, on ${machine}.\n\n${lines.join('\n\n')}\n`;
writeFileSync(new URL('results.md', import.meta.url), text);
