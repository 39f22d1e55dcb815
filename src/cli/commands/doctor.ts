import type { Writable } from 'node:stream';
import { addressHere } from '../../address-here.ts';
import { readDotEnv, UnreadableDotEnv } from '../../dot-env.ts';
import { command, type GlobalOptions, warnOfReaders } from '../command.ts';
import {
  addressesFile,
  credentialOf,
  hostOfService,
  namedAddress,
  readAddress,
  saveAddress,
} from '../service/connection.ts';
import { noAnswer, servicePatience, parseJson, type Schemas } from '../service/service.ts';
import { type ExitCode, exitCodes, misused, unknownThing, CommandStop } from '../stop.ts';
import { jsonLine, printable } from '../terminal.ts';
import type { World } from '../world.ts';

export const login = command<{ host?: string }, [address: string]>({
  usage: 'login <address>',
  summary: 'save the address of Holdfast, so that other commands do not need --url',
  options: [['--host <host>', 'the GitHub host that it works with (GH_HOST, or github.com)']],
  examples: [
    ['holdfast login https://holdfast.example.com', 'Use this Holdfast from now on'],
    [
      'holdfast login https://holdfast.example.com --host github.example.com',
      'Use this Holdfast with GitHub Enterprise Server',
    ],
  ],
  notes:
    'This saves no credential. Each command uses --token, HOLDFAST_TOKEN, or the output of `gh auth token` for that GitHub host.',
  async run({ world, output }, { host = hostOfService(world) }, text) {
    const url = readAddress(text);
    const findings = await askService({ url });
    saveAddress(world, host, url);
    for (const { message } of findings) output.line(message);
    output.line(`Kept for ${host} in ${addressesFile(world)}.`);
    output.json({ host, url });
  },
});

export const doctor = command<object, [repository: string | undefined]>({
  usage: 'doctor [repository]',
  summary: 'check that Holdfast runs, and that it can enforce freezes in a repository',
  examples: [
    ['holdfast doctor', 'Check the service. You do not need a credential'],
    ['holdfast doctor acme/web', 'Check whether freezes are enforced in a repository, and how to fix it'],
  ],
  notes: `If you name no service, this asks the machine itself, at the PORT of the environment or .env.
For a repository, use an admin application key or the GitHub token of one of its admins or freezers.
The exit code is 0 if nothing failed, 1 if something failed, and 2 if this cannot tell.`,
  async run({ world, options, output }, _options, repository): Promise<ExitCode> {
    const named = namedAddress(world, options.url);
    const url = options.url ?? (named ? readAddress(named) : ofThisFolder(world));
    const token = repository === undefined ? undefined : await tokenFor(world, url, options, Boolean(named));
    if (token) warnOfReaders(output, url);
    return diagnose({ repository, url, token, isJson: output.isJson }, world.out);
  },
});

/** The given token, unchanged: the doctor says what is wrong with it. Asks `gh` only for a service that was named. */
async function tokenFor(world: World, url: string, { token, insecure }: GlobalOptions, isNamed: boolean) {
  const given = token ?? world.env.HOLDFAST_TOKEN?.trim();
  if (given || !isNamed) return given;
  try {
    return await credentialOf(world, url, undefined, insecure);
  } catch (error) {
    if (error instanceof CommandStop) return undefined;
    throw error;
  }
}

/** The service on this machine: at `PORT` and `HOST` of the environment, or of `.env` in this folder. */
function ofThisFolder({ env }: World): string {
  const file = dotEnv();
  const value = (name: 'HOST' | 'PORT') => env[name]?.trim() || file[name]?.trim();
  return addressHere(value('HOST') ?? 'localhost', value('PORT') ?? '3000');
}

function dotEnv(): NodeJS.Dict<string> {
  try {
    return readDotEnv();
  } catch (error) {
    if (error instanceof UnreadableDotEnv)
      throw misused(`${error.message} Or name the service with --url or HOLDFAST_URL.`);
    throw error;
  }
}

type DoctorOptions = {
  /** `owner/repository`; without it, this checks only the service. */
  repository?: string;
  /** The address of the service, without `/v1`. */
  url: string;
  /** An admin key, or a GitHub token of an admin or freezer of the repository. */
  token?: string;
  isJson: boolean;
};

/** A finding of the service about the repository, or of the doctor about the service. */
type DoctorFinding = Omit<Schemas['Finding'], 'check'> & { check: string };
type OfRepository = { enforced: boolean | 'unknown'; leaking?: number[]; findings: DoctorFinding[] };
/** @property error why there are no more findings, and what to do. */
type Report = Partial<OfRepository> & {
  url: string;
  repository?: string;
  findings: DoctorFinding[];
  error?: string;
};

/** Asks a service whether it runs well and can hold a repository, and prints the findings. @returns the exit code. */
export async function diagnose(options: DoctorOptions, output: Writable): Promise<ExitCode> {
  const { url, repository } = options;
  let report: Report = { url, repository, findings: [] };
  try {
    report.findings = await askService(options);
    if (repository !== undefined) {
      const { enforced, leaking, findings } = await askRepository(options, repository);
      report = { url, repository, enforced, leaking, findings: [...report.findings, ...findings] };
    }
  } catch (error) {
    if (!(error instanceof CommandStop)) throw error;
    report.error = error.message;
  }
  output.write(options.isJson ? jsonLine(report) : forPeople(report));
  if (report.error !== undefined) return exitCodes.notKnown;
  if (report.findings.some(({ state }) => state === 'failed')) return exitCodes.refused;
  return report.enforced === 'unknown' ? exitCodes.notKnown : exitCodes.done;
}

/** Whether the service runs, and can work. @throws Stop if nothing answers, or not Holdfast. */
async function askService(options: Pick<DoctorOptions, 'url' | 'token'>): Promise<DoctorFinding[]> {
  const document = await get(options, '/v1/openapi.json');
  const { info } = (document.body ?? {}) as { info?: { title?: unknown; version?: unknown } };
  const ready = await get(options, '/readyz');
  const { status, detail, reasons } = (ready.body ?? {}) as Record<'status' | 'detail' | 'reasons', unknown>;
  // What it answers until there is an App, and while its database is moved.
  if (status === 'setup' || status === 'moving')
    throw unknownThing(`Holdfast answers at ${options.url}. ${String(detail)}`);
  if (info?.title !== 'Holdfast') {
    throw unknownThing(
      `The service at ${options.url} is not Holdfast. Set the address with --url or HOLDFAST_URL.`,
    );
  }
  const message = `Holdfast answers at ${options.url}, with API version ${String(info.version)}.`;
  const running: DoctorFinding = { check: 'service', state: 'ok', message, remedy: null };
  const wrong = (Array.isArray(reasons) ? reasons : []).map((reason): DoctorFinding => ({
    check: 'service',
    state: 'failed',
    message: String(reason),
    remedy: null,
  }));
  if (ready.status === 200) return [running, ...wrong];
  const why = `Holdfast is not ready: GET /readyz answers ${ready.status} ${JSON.stringify(ready.body)}.`;
  const remedy = 'Check the log of the service. Its database or its job queue does not answer.';
  return [running, ...wrong, { check: 'service', state: 'failed', message: why, remedy }];
}

async function askRepository(options: DoctorOptions, repository: string) {
  const [owner, name, ...rest] = repository.split('/');
  if (!owner || !name || rest.length > 0) {
    throw unknownThing(`"${repository}" is not a repository. Write it as owner/repository.`);
  }
  if (!options.token || !/^[\x21-\x7e]+$/.test(options.token)) {
    const what = options.token
      ? 'HOLDFAST_TOKEN contains characters that no credential has, such as a space or a quote. '
      : '';
    throw unknownThing(
      `${what}Set HOLDFAST_TOKEN to an admin application key (hf_admin_…), or to the GitHub token of an admin or freezer of the repository.`,
    );
  }
  const path = `/v1/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/enforcement`;
  const { status, body } = await get(options, path);
  if (status === 200 && isReport(body)) return body;
  const { detail } = (body ?? {}) as { detail?: unknown };
  const says = Array.isArray(detail)
    ? detail.map((each: { msg?: unknown }) => String(each.msg)).join(' ')
    : typeof detail === 'string'
      ? detail
      : 'It does not say why. It may be older than this doctor.';
  throw unknownThing(`Holdfast answers ${status} about ${repository}: ${says}`);
}

/** A redirect is an error, because it would send the credential elsewhere. */
async function get(
  { url, token }: Pick<DoctorOptions, 'url' | 'token'>,
  path: string,
): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(new URL(url.replace(/\/+$/, '') + path), {
      redirect: 'error',
      signal: AbortSignal.timeout(servicePatience),
      headers: token && path.startsWith('/v1/repos/') ? { Authorization: `Bearer ${token}` } : {},
    });
    return { status: response.status, body: parseJson(await response.text()) };
  } catch (error) {
    throw noAnswer(url, error);
  }
}

/** Whether an answer has the fields that are printed. */
function isReport(body: unknown): body is OfRepository {
  const { enforced, findings } = (body ?? {}) as { enforced?: unknown; findings?: unknown };
  return (
    (typeof enforced === 'boolean' || enforced === 'unknown') &&
    Array.isArray(findings) &&
    findings.every(
      ({ state, message }: DoctorFinding) => Object.hasOwn(marks, state) && typeof message === 'string',
    )
  );
}

const marks = { ok: 'ok', warning: 'warning', failed: 'FAILED', unknown: 'unknown' } as const;
const conclusions = new Map<boolean | 'unknown' | undefined, string>([
  [true, 'Freezes are enforced.'],
  [false, 'Freezes are NOT enforced.'],
  ['unknown', 'Holdfast cannot tell whether freezes are enforced.'],
]);

const idle = 'GitHub enforces what Holdfast holds, but Holdfast has not judged a freeze that began.';

function forPeople({ findings, enforced, repository, error }: Report): string {
  const width = Math.max(...Object.values(marks).map(({ length }) => length));
  const lines = findings.flatMap(({ state, message, remedy }) => [
    `${marks[state].padEnd(width)}  ${message}`,
    ...(remedy === null ? [] : [`${' '.repeat(width)}  → ${remedy}`]),
  ]);
  // Not about what GitHub requires: nobody does what is due.
  const isIdle = findings.some(({ check, state }) => check === 'worker' && state === 'failed');
  const conclusion = enforced === true && isIdle ? idle : conclusions.get(enforced);
  if (conclusion) lines.push('', `${repository}: ${conclusion}`);
  if (error !== undefined) lines.push(error);
  return `${lines.map(printable).join('\n')}\n`;
}
