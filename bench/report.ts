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

Every figure stands beside a floor that was measured in the same run: the least that the same work can cost. The machines are shared, so only the ratios (Holdfast ÷ floor) travel.

${summary(sections)}

${sections.map(section).join('\n\n')}
`;
  const path = fileURLToPath(new URL('results.md', import.meta.url));
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}

function summary(sections: Section[]): string {
  const aimed = sections.flatMap(({ outcome }) => outcome.figures).filter(({ aim }) => aim);
  const missed = aimed.filter(({ met }) => !met);
  const failures = sections.flatMap(({ outcome }) => outcome.failures ?? []);
  return [
    `${aimed.length - missed.length} of ${aimed.length} aims are met.`,
    ...missed.map(
      ({ bench, figure, ratio, aim }) => `- missed: ${bench}, ${figure}: ${ratio} × (aim ${aim})`,
    ),
    ...failures.map((failure) => `- **failed**: ${failure}`),
  ].join('\n');
}

function section({ bench, outcome }: Section): string {
  const rows = outcome.figures.map(row);
  const notes = outcome.notes.map((note) => `- ${note}`);
  return [
    `## ${bench.title} (\`${bench.name}\`)\n`,
    '| figure | Holdfast | floor | ratio | aim |\n| --- | ---: | ---: | ---: | --- |',
    ...rows,
    ...(notes.length > 0 ? ['', ...notes] : []),
  ].join('\n');
}

const row = ({ figure, unit, holdfast, floor, ratio, aim, met }: Figure): string =>
  `| ${figure} | ${amount(holdfast)} ${unit} | ${amount(floor)} ${unit} | ${ratio} | ${aim ? `${aim} ${met ? '✓' : '✗'}` : ''} |`;

const amount = (value: number): string => value.toLocaleString('en-US');
