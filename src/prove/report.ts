// What a run found, for people and for the tests of the sandbox.
import type { Exchange, Json } from './ask.ts';
import type { Step } from './stage.ts';
import type { Verdict } from './verdict.ts';

/** @property why what GitHub does instead, or why it is unknown. */
export type Proved = Pick<Step, 'name' | 'proves' | 'otherwise'> & {
  verdict: Verdict;
  why: string | null;
  exchanges: Exchange[];
};

type About = { at: string; holdfast: string; github: string };

/**
 * The whole of it for programs. Two runs differ only where GitHub does, in the day, and in the ids of requests.
 * @param names of this run, each with the one that all runs have.
 */
export const proofAsJson = (
  about: About,
  proved: Proved[],
  notProven: object,
  names: Record<string, string>,
) => ({
  ...about,
  steps: proved.map((step) => {
    const exchanges = normalised(step.exchanges, names);
    const { request, response } = exchanges.at(-1) ?? {};
    const asked = request ? `${request.method} ${request.path}` : null;
    const requestId = step.exchanges.at(-1)?.requestId ?? null;
    return { ...step, asked, answered: response?.status ?? null, request_id: requestId, exchanges };
  }),
  not_proven: notProven,
});

/** The same for people. */
export function proofAsMarkdown({ steps, not_proven, ...about }: ReturnType<typeof proofAsJson>): string {
  const rows = steps.map(({ name, proves, verdict, asked, answered, request_id: id }) =>
    [`\`${name}\``, proves, verdict, asked && `\`${asked}\``, answered, id]
      .map((cell) => cell ?? '')
      .join(' | '),
  );
  const wrong = steps.filter(({ verdict }) => verdict !== 'held');
  return [
    `On ${about.at.slice(0, 10)}, Holdfast ${about.holdfast} asked ${about.github}: ${summary(steps)}`,
    [
      ...[
        'step | what GitHub does | verdict | last question | answer | request',
        '--- | --- | --- | --- | --- | ---',
      ],
      ...rows,
    ]
      .map((row) => `| ${row} |`)
      .join('\n'),
    ...wrong.map(({ name, verdict, why, otherwise }) => {
      const meaning = verdict === 'not held' ? ` What it means: ${otherwise}` : '';
      return `\`${name}\`: **${verdict}**. ${why}${meaning}`;
    }),
    ['Not proven:\n', ...Object.entries(not_proven).map(([what, why]) => `- ${what}: ${why}`), ''].join('\n'),
  ].join('\n\n');
}

const personas = { owner: 'ada', app: 'app', installation: 'installation', second: 'second' };
const verdicts: Verdict[] = ['held', 'not held', 'unknown'];

/** How many steps have each verdict. */
export const summary = (steps: { verdict: Verdict }[]): string =>
  `${verdicts.map((verdict) => `${steps.filter((each) => each.verdict === verdict).length} ${verdict}`).join(', ')}.`;

const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g;
/** SHAs, UUIDs, node ids, and numbers in paths. */
const chosen =
  /\b[0-9a-f]{40}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[A-Z]{1,5}_[\w-]{8,}|(?<=\/|-)\d+\b/g;

/** Exchanges without names, times and ids of one run. What was equal stays equal: the third id is 1000003 wherever it is. */
function normalised(exchanges: Exchange[], names: Record<string, string>) {
  const seen = new Map<string, number>();
  const numbered = (value: string): number => {
    seen.set(value, seen.get(value) ?? 1_000_001 + seen.size);
    return seen.get(value)!;
  };
  const renumbered = (value: string): string => {
    const number = String(numbered(value));
    if (/^[A-Z]/.test(value)) return value.replace(/_.*/, `_${number}`);
    if (/^\d+$/.test(value)) return number;
    return value.replaceAll(/[0-9a-f]/g, '0').slice(0, -number.length) + number;
  };
  const inText = (text: string): string =>
    Object.entries(names)
      .reduce((so, [name, always]) => so.replaceAll(name, always), text)
      .replaceAll(instant, '2026-01-01T00:00:00')
      .replaceAll(chosen, renumbered);
  const inJson = (value: Json, key: string): Json => {
    if (typeof value === 'string') return inText(value);
    if (key === 'duration') return 0;
    if (typeof value === 'number') return /(?:^|_)(?:id|number)$/.test(key) ? numbered(String(value)) : value;
    if (Array.isArray(value)) return value.map((each) => inJson(each, key));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inJson(each, name)]));
  };
  // As in test/recorded/README.md.
  return exchanges.map(({ as, method, path, sent, status, headers, answer }) => ({
    as: personas[as],
    request: { method, path: inText(path), ...(sent !== undefined && { body: inJson(sent, '') }) },
    response: { status, headers: inJson(headers, ''), body: inJson(answer, '') },
  }));
}
