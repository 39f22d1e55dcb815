// bench/results.md: the same figures as the JSON lines, for people.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import type { Bench } from './bench.ts';
import type { Figure, Outcome } from './figure.ts';

export type Section = { bench: Bench; outcome: Outcome };

/** @param postgres its version; null where none is installed. */
export async function writeReport(
  sections: Section[],
  postgres: string | null,
  minutes: number,
): Promise<void> {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = `${cpus().length} × ${cpus()[0]!.model.trim()}, ${memory}, Node ${process.versions.node}, ${postgres ?? 'no PostgreSQL'}`;
  const text = `# What \`npm run bench\` measured

${date}, at or after commit ${commit}, on ${machine}; it took ${minutes.toFixed(0)} minutes.

Every figure stands beside a floor that was measured in the same run: the least that the same work can cost. The machines are shared, so only the ratios (Holdfast ÷ floor) and counts travel. The client of the requests is autocannon, in a process of its own; GitHub is the sandbox, in the process of the benchmarks.

A budget in milliseconds was set on one machine, and its floor there stands in brackets: where the floor of a run is slower, the budget is as many times longer.

${summary(sections)}

${sections.map(section).join('\n\n')}
`;
  const path = fileURLToPath(new URL('results.md', import.meta.url));
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}

function summary(sections: Section[]): string {
  const figures = sections.flatMap(({ outcome }) => outcome.figures);
  const budgets = figures.filter(({ must }) => must);
  const aims = figures.filter(({ aim }) => aim);
  const told = ({ bench, figure, holdfast, unit, ratio }: Figure, limit: string) =>
    `${bench}, ${figure}: ${amount(holdfast)} ${unit}${ratio === null ? '' : `, ${ratio} ×`} (${limit})`;
  const failures = sections.flatMap(({ outcome }) => outcome.failures ?? []);
  return [
    `${budgets.filter(({ met }) => met).length} of ${budgets.length} budgets hold; ${aims.filter(({ aimMet }) => aimMet).length} of ${aims.length} aims are met.`,
    ...budgets
      .filter(({ met }) => !met)
      .map((figure) => `- **over budget**: ${told(figure, `must ${figure.must}`)}`),
    ...aims
      .filter(({ aimMet }) => !aimMet)
      .map((figure) => `- aim missed: ${told(figure, `aim ${figure.aim}`)}`),
    ...failures.map((failure) => `- **failed**: ${failure}`),
  ].join('\n');
}

function section({ bench, outcome }: Section): string {
  const rows = outcome.figures.map(row);
  const notes = outcome.notes.map((note) => `- ${note}`);
  return [
    `## ${bench.title} (\`${bench.name}\`)\n`,
    '| figure | Holdfast | floor | ratio | must be | aim |\n| --- | ---: | ---: | ---: | --- | --- |',
    ...rows,
    ...(notes.length > 0 ? ['', ...notes] : []),
  ].join('\n');
}

const row = ({ figure, unit, holdfast, floor, ratio, must, met, aim, aimMet }: Figure): string => {
  const beside = floor === null ? '' : `${amount(floor)} ${unit}`;
  return `| ${figure} | ${amount(holdfast)} ${unit} | ${beside} | ${ratio ?? ''} | ${limit(must, met)} | ${limit(aim, aimMet)} |`;
};

const limit = (text?: string, isMet?: boolean): string => (text ? `${text} ${isMet ? '✓' : '✗'}` : '');

const amount = (value: number): string => value.toLocaleString('en-US');
