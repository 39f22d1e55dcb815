// What a run found, for people and for the tests of the sandbox.
import type { Exchange, ProveJson } from './ask.ts';
import type { ProveStep } from './stage.ts';
import type { ProveVerdict } from './verdict.ts';

/** @property why what GitHub does instead, or why it is unknown; of what held, how, if there are several ways. */
export type Proved = Pick<ProveStep, 'name' | 'proves' | 'otherwise'> & {
  verdict: ProveVerdict;
  why: string | null;
  exchanges: Exchange[];
};

type About = Record<'at' | 'holdfast' | 'github', string> & { not_proven: Record<string, string> };

/**
 * The whole of it for programs. Two runs differ only where GitHub does, in the day, and in the ids of requests.
 * @param names of this run, each with the one that all runs have.
 */
export const proofAsJson = (about: About, proved: Proved[], names: Record<string, string>) => ({
  ...about,
  steps: proved.map((step) => {
    const exchanges = normalised(step.exchanges, names);
    const { request, response } = exchanges.at(-1) ?? {};
    const asked = request ? `${request.method} ${request.path}` : null;
    const id = step.exchanges.at(-1)?.requestId ?? null;
    return { ...step, asked, answered: response?.status ?? null, request_id: id, exchanges };
  }),
});

/** The same for people. */
export function proofAsMarkdown({ steps, not_proven, ...about }: ReturnType<typeof proofAsJson>): string {
  const row = (...cells: (string | number | null)[]) => `| ${cells.map((cell) => cell ?? '').join(' | ')} |`;
  const rows = steps.map(({ name, proves, verdict, asked, answered, request_id: id }) =>
    row(`\`${name}\``, proves, verdict, asked && `\`${asked}\``, answered, id),
  );
  const heads = ['step', 'what GitHub does', 'verdict', 'last question', 'answer', 'request'];
  const first = `On ${about.at.slice(0, 10)}, Holdfast ${about.holdfast} asked ${about.github}: ${summary(steps)}`;
  const wrong = steps
    .filter(({ verdict, why }) => verdict !== 'held' || why !== null)
    .map(({ name, verdict, why, otherwise }) => {
      const meaning = verdict === 'not held' ? ` What it means: ${otherwise}` : '';
      return `\`${name}\`: **${verdict}**. ${why}${meaning}`;
    });
  const left = Object.entries(not_proven).map(([what, why]) => `- ${what}: ${why}`);
  const table = [row(...heads), row(...heads.map(() => '---')), ...rows].join('\n');
  return [first, table, ...wrong, `Not proven:\n\n${left.join('\n')}\n`].join('\n\n');
}

/** How many steps have each verdict. */
export const summary = (steps: { verdict: ProveVerdict }[]): string =>
  `${(['held', 'not held', 'unknown'] as const).map((one) => `${steps.filter(({ verdict }) => verdict === one).length} ${one}`).join(', ')}.`;

const reportInstant = '2026-01-01T00:00:00';
/** Instants, SHAs, UUIDs, node ids, and numbers in paths, anchors and names of merge groups. */
const chosen =
  /\d{4}-\d\d-\d\dT[\d:]{8}|\b[0-9a-f]{40}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[A-Z]{1,5}_[\w-]{7,}|(?<=\/|\/pr-|#[a-z_]+-?)\d+\b/g;

/** Exchanges without names, times and ids of one run. What was equal stays equal: the third id is 1000003 wherever it is. */
function normalised(exchanges: Exchange[], names: Record<string, string>) {
  const seen = new Map<string, number>();
  const numbered = (value: string): number => {
    seen.set(value, seen.get(value) ?? 1_000_001 + seen.size);
    return seen.get(value)!;
  };
  const renumbered = (value: string): string => {
    if (/^\d{4}-/.test(value)) return reportInstant;
    const number = String(numbered(value));
    if (/^[A-Z]/.test(value)) return value.replace(/_.*/, `_${number}`);
    if (/^\d+$/.test(value)) return number;
    return value.replaceAll(/[0-9a-f]/g, '0').slice(0, -number.length) + number;
  };
  const inText = (text: string): string =>
    Object.entries(names)
      .reduce((so, [name, always]) => so.replaceAll(name, always), text)
      .replaceAll(chosen, renumbered);
  const inJson = (value: ProveJson): ProveJson =>
    JSON.parse(JSON.stringify(value), (key, each: ProveJson) => {
      if (typeof each === 'string') return inText(each);
      if (key === 'duration') return 0;
      return typeof each === 'number' && /^\d+$|(?:^|_)(?:id|number)$/.test(key)
        ? numbered(String(each))
        : each;
    });
  // As in test/recorded/README.md. The scopes are those of a person's token.
  return exchanges.map(({ as, method, path, sent, status, headers, answer }) => ({
    as,
    request: { method, path: inText(path), ...(sent !== undefined && { body: inJson(sent) }) },
    response: { status, headers: inJson({ ...headers, 'x-oauth-scopes': undefined }), body: inJson(answer) },
  }));
}
