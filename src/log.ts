import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/**
 * Whatever could be a credential, wherever it stands in a line: keys of ours, tokens of GitHub, PEM blocks. No word
 * boundary is asked for: in a line of JSON the `n` of an escaped line break stands right before the next word.
 */
const secrets =
  /hf_(?:admin|ci)_[0-9A-Za-z]+|gh[a-z]_[A-Za-z0-9._-]{16,}|github_pat_[A-Za-z0-9_]{16,}|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+|-----BEGIN[^-]+PRIVATE KEY-----.*?-----END[^-]+PRIVATE KEY-----/gs;

/** A log line with every credential in it replaced. */
export const redact = (line: string): string => line.replace(secrets, '[secret]');

/** The service's logger. Lines pass through `redact` last of all, so no caller can forget it. */
export function createLogger(config: Pick<Config, 'logLevel' | 'logFormat'>, write = writeLine): Logger {
  const pretty = config.logFormat === 'pretty';
  const options = {
    level: config.logLevel,
    base: null,
    serializers: { err: withoutBodies, data: withoutText },
  };
  return pino(options, { write: (line: string) => write(redact(pretty ? prettify(line) : line)) });
}

/** What is logged of an error. Others carry payloads: GraphQL's `data`, a webhook's `event`, the answer to a request. */
const toldOfErrors = [
  'type',
  'message',
  'stack',
  'status',
  'code',
  'meta',
  'problems',
  'syscall',
  'path',
] as const;

/** An error as it is logged: of a request to GitHub what was asked, without the query, the facts and the answer. */
function withoutBodies(error: Error): object {
  if (!(error instanceof Error)) return {};
  const all = pino.stdSerializers.err(error) as unknown as Record<string, unknown>;
  const told = Object.fromEntries(toldOfErrors.filter((key) => key in all).map((key) => [key, all[key]]));
  const { request } = all;
  const each = error instanceof AggregateError ? { errors: error.errors.map(withoutBodies) } : {};
  if (!isRequest(request)) return { ...told, ...each };
  return { ...told, ...each, request: { method: request.method, url: request.url } };
}

/** What a job carries, as it is logged: not what somebody wrote. */
const withoutText = ({ text: _, ...data }: { text?: string }): object => data;

const isRequest = (request: unknown): request is { method: string; url: string } =>
  typeof request === 'object' && request !== null && 'method' in request && 'url' in request;

let waiting = '';

/** Lines of the same turn are written together: under load each of them costs a system call less. */
function writeLine(line: string): void {
  if (waiting === '') setImmediate(writeWaiting);
  waiting += line;
}

function writeWaiting(): void {
  const lines = waiting;
  waiting = '';
  if (lines !== '') process.stdout.write(lines);
}

process.once('exit', writeWaiting);

const names: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'ERROR',
  60: 'FATAL',
};

/** One readable line: time, level, message, then the rest as JSON. */
function prettify(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as { time: number; level: number; msg?: string };
  const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
  return `${new Date(time).toISOString()} ${(names[level] ?? '').padEnd(5)} ${msg ?? ''}${more}\n`;
}
