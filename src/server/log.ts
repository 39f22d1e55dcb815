import { type LogFn, type Logger, pino } from 'pino';
import type { Config } from '../config.ts';
import { type DatabaseTrouble, troubleOf } from '../database/trouble.ts';

/**
 * Everything that could be a credential, anywhere in a line: our keys, tokens of calendars, GitHub and Slack, PEM blocks. It needs no word
 * boundary: in a line of JSON, the `n` of an escaped line break is right before the next word.
 */
const secrets =
  /hf_(?:admin|ci)_[0-9A-Za-z]+|hf_cal_[\w-]+|gh[a-z]_[A-Za-z0-9._-]{16,}|github_pat_[A-Za-z0-9_]{16,}|x(?:app|ox[a-z])-[A-Za-z0-9-]{8,}|hooks\.slack(?:-gov)?\.com\/[^\s"]+|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+|-----BEGIN[^-]+PRIVATE KEY-----.*?-----END[^-]+PRIVATE KEY-----/gs;

/** A log line with every credential in it replaced. */
export const redact = (line: string): string => line.replace(secrets, '[secret]');

/** The service's logger. Every line passes `redact` at the end, so no caller can forget it. */
export function createLogger(config: Pick<Config, 'logLevel' | 'logFormat'>, write = writeLine): Logger {
  const pretty = config.logFormat === 'pretty';
  const options = {
    level: config.logLevel,
    base: null,
    serializers: { err: withoutBodies, data: withoutText },
    hooks: { logMethod: quietly },
  };
  return pino(options, { write: (line: string) => write(redact(pretty ? prettify(line) : line)) });
}

/**
 * While the database is in trouble, most work fails, and fails again and again. One line a minute says so (`tellTrouble`);
 * what each of them could not do stands in the log at `debug`.
 */
function quietly(this: Logger, given: Parameters<LogFn>, write: LogFn, level: number): void {
  const [first] = given as [unknown];
  const error = first instanceof Error ? first : (first as { err?: unknown } | undefined)?.err;
  if (level < pino.levels.values['warn']! || !troubleOf(error)) write.apply(this, given);
  else this.debug(...given);
}

/** Tells of trouble with the database, and of its end. */
export const tellTrouble =
  (log: Logger) =>
  (trouble: DatabaseTrouble | null): void => {
    if (!trouble) return log.info('the database answers again');
    const { kind, message, cause } = trouble;
    log.error({ database: kind, reason: (cause as Error | undefined)?.message }, message);
  };

/** The logged fields of an error. Other fields hold payloads: GraphQL's `data`, a webhook's `event`, an answer. */
const loggedFields = [
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

/** An error for the log. For a request to GitHub, it has the route, without the query, the facts and the answer. */
function withoutBodies(error: Error): object {
  if (!(error instanceof Error)) return {};
  const all = pino.stdSerializers.err(error) as unknown as Record<string, unknown>;
  const fields = Object.fromEntries(loggedFields.filter((key) => key in all).map((key) => [key, all[key]]));
  const { request } = all;
  const each = error instanceof AggregateError ? { errors: error.errors.map(withoutBodies) } : {};
  if (!isRequest(request)) return { ...fields, ...each };
  return { ...fields, ...each, request: { method: request.method, url: request.url } };
}

/** The data of a job for the log, without texts that people wrote. */
const withoutText = ({ text: _, ...data }: { text?: string }): object => data;

const isRequest = (request: unknown): request is { method: string; url: string } =>
  typeof request === 'object' && request !== null && 'method' in request && 'url' in request;

let waiting = '';

/** Writes the lines of a turn together: under load, this saves a system call for each. */
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

/** The name of a level, in capitals from `error` on. */
const nameOfRepository = (level: number): string =>
  level < 50 ? pino.levels.labels[level]! : pino.levels.labels[level]!.toUpperCase();

/** One readable line: time, level, message, then the rest as JSON. */
function prettify(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as { time: number; level: number; msg?: string };
  const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
  return `${new Date(time).toISOString()} ${nameOfRepository(level).padEnd(5)} ${msg ?? ''}${more}\n`;
}
