import type { Writable } from 'node:stream';
import { z } from 'zod';
import { checks, type Finding, states } from '../enforcement/finding.ts';

export type DoctorOptions = {
  /** `owner/repository`; without it only the service is looked at. */
  repository?: string;
  /** Where the service answers, without `/v1`. */
  url: string;
  /** An admin key, or a GitHub token of an admin of the repository. */
  token?: string;
  isJson: boolean;
};

/** A finding of the service about the repository, or of the doctor about the service. */
type Line = Omit<Finding, 'check'> & { check: Finding['check'] | 'service' };

/** Without these findings there is nothing to say; the message says what to do. */
class CannotAsk extends Error {}

/** What the shell is told: nothing failed, something did, or neither can be said. */
export const exitCodes = { healthy: 0, failed: 1, cannotTell: 2 } as const;

/** Asks a running service whether it is well and whether it can hold a repository; prints that. @returns the exit code. */
export async function doctor(options: DoctorOptions, output: Writable): Promise<number> {
  const findings: Line[] = [];
  let enforced: boolean | 'unknown' | undefined;
  let leaking: number[] | undefined;
  let error: string | undefined;
  try {
    findings.push(...(await askService(options)));
    if (options.repository !== undefined) {
      const report = await askRepository(options, options.repository);
      ({ enforced, leaking } = report);
      findings.push(...report.findings);
    }
  } catch (cause) {
    if (!(cause instanceof CannotAsk)) throw cause;
    error = cause.message;
  }
  const report = { url: options.url, repository: options.repository, enforced, leaking, findings, error };
  output.write(options.isJson ? `${JSON.stringify(report)}\n` : forPeople(report));
  if (error !== undefined) return exitCodes.cannotTell;
  if (findings.some(({ state }) => state === 'failed')) return exitCodes.failed;
  return enforced === 'unknown' ? exitCodes.cannotTell : exitCodes.healthy;
}

/** Whether the service runs, and can work. */
async function askService(options: DoctorOptions): Promise<Line[]> {
  const document = await get(options, '/v1/openapi.json');
  const described = openApi.safeParse(document.body);
  const ready = await get(options, '/readyz');
  const waiting = beforeSetup.safeParse(ready.body);
  if (waiting.success) throw new CannotAsk(`Holdfast answers at ${options.url}. ${waiting.data.detail}`);
  if (!described.success) {
    throw new CannotAsk(
      `What answers at ${options.url} is not Holdfast. Name the service with --url or HOLDFAST_URL.`,
    );
  }
  const message = `Holdfast answers at ${options.url}, with version ${described.data.info.version} of its interface.`;
  const running: Line = { check: 'service', state: 'ok', message, remedy: null };
  if (ready.status === 200) return [running];
  const why = `It is not ready: GET /readyz answers ${ready.status} ${JSON.stringify(ready.body)}.`;
  const remedy = 'See what the service logs; its database or its job queue does not answer.';
  return [running, { check: 'service', state: 'failed', message: why, remedy }];
}

async function askRepository(options: DoctorOptions, repository: string) {
  const [owner, name, ...rest] = repository.split('/');
  if (!owner || !name || rest.length > 0) {
    throw new CannotAsk(`"${repository}" is no repository. Name it as owner/repository.`);
  }
  if (!options.token || !/^[\x21-\x7e]+$/.test(options.token)) {
    const what = options.token
      ? 'HOLDFAST_TOKEN holds what no credential does, such as a space or a quote. '
      : '';
    throw new CannotAsk(
      `${what}Set HOLDFAST_TOKEN to an admin application key (hf_admin_…), or to the GitHub token of an admin of the repository.`,
    );
  }
  const path = `/v1/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/enforcement`;
  const { status, body } = await get(options, path);
  const report = enforcement.safeParse(body);
  if (status === 200 && report.success) return report.data;
  const refusal = errorBody.safeParse(body);
  const detail = refusal.success
    ? refusal.data.detail
    : 'It does not say why; it may be older than this doctor.';
  throw new CannotAsk(
    `Holdfast answers ${status} about ${repository}: ${typeof detail === 'string' ? detail : detail.map(({ msg }) => msg).join(' ')}`,
  );
}

/** Milliseconds: a look at a repository takes the service 20 s at most. */
const patience = 30_000;

/** A redirect is an error: it would carry the credential elsewhere. */
async function get({ url, token }: DoctorOptions, path: string): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(new URL(url.replace(/\/+$/, '') + path), {
      redirect: 'error',
      signal: AbortSignal.timeout(patience),
      headers: token && path.startsWith('/v1/repos/') ? { Authorization: `Bearer ${token}` } : {},
    });
    const text = await response.text();
    return { status: response.status, body: readJson(text) };
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error && cause.message ? cause.message : message;
    const remedy = isUntrusted(cause)
      ? 'Set NODE_EXTRA_CA_CERTS to a file with the certificate of who signed it.'
      : 'Start it, or name it with --url or HOLDFAST_URL.';
    throw new CannotAsk(`Holdfast does not answer at ${url} (${why}). ${remedy}`);
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whether a certificate was shown whose signer this machine does not know. */
const isUntrusted = (cause: unknown): boolean =>
  /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)/.test(String((cause as { code?: unknown } | undefined)?.code));

/** What the service says of itself until there is an App. */
const beforeSetup = z.object({ status: z.literal('setup'), detail: z.string() });
const openApi = z.object({ info: z.object({ title: z.literal('Holdfast'), version: z.string() }) });
const enforcement = z.object({
  enforced: z.union([z.boolean(), z.literal('unknown')]),
  leaking: z.array(z.int()).optional(),
  findings: z.array(
    z.object({
      check: z.enum(checks),
      state: z.enum(states),
      branch: z.string().optional(),
      message: z.string(),
      remedy: z.string().nullable(),
    }),
  ),
});
const errorBody = z.object({ detail: z.union([z.string(), z.array(z.object({ msg: z.string() }))]) });

const marks = { ok: 'ok', warning: 'warning', failed: 'FAILED', unknown: 'unknown' } as const;
const conclusions = new Map<boolean | 'unknown' | undefined, string>([
  [true, 'Freezes are enforced.'],
  [false, 'Freezes are NOT enforced.'],
  ['unknown', 'Whether freezes are enforced is not known.'],
]);

type Report = {
  findings: Line[];
  leaking?: number[];
  enforced?: boolean | 'unknown';
  repository?: string;
  error?: string;
};

function forPeople({ findings, enforced, repository, error }: Report): string {
  const width = Math.max(...Object.values(marks).map(({ length }) => length));
  const lines = findings.flatMap(({ state, message, remedy }) => [
    `${marks[state].padEnd(width)}  ${message}`,
    ...(remedy === null ? [] : [`${' '.repeat(width)}  → ${remedy}`]),
  ]);
  const conclusion = conclusions.get(enforced);
  if (conclusion) lines.push('', `${repository}: ${conclusion}`);
  if (error !== undefined) lines.push(error);
  return `${lines.map(printable).join('\n')}\n`;
}

/** Names are people's to choose, and a terminal obeys control characters. */
const printable = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD');
