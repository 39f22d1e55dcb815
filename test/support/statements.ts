// Counts what this process asks of PostgreSQL, whoever asks: the door and Prisma. `LISTEN` does not count: it is repeated by
// real time. Nor do the settings of a new connection.
import pg from 'pg';

type Asked = string | { text?: string };
type Query = (asked: Asked, ...more: unknown[]) => unknown;

/** Whoever counts now. */
const listeners = new Set<(statement: string) => void>();
let isWrapped = false;

/** Every pool asks through this one method in the end. */
function wrap(): void {
  if (isWrapped) return;
  isWrapped = true;
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const query = prototype.query;
  prototype.query = function (this: pg.Client, asked, ...more) {
    const text = typeof asked === 'string' ? asked : (asked.text ?? '');
    if (!text.startsWith('LISTEN ') && !text.includes(`set_config('statement_timeout'`))
      for (const statement of statementsIn(text)) for (const listen of listeners) listen(statement);
    return query.call(this, asked, ...more);
  };
}

/**
 * Counts statements from now on: BEGIN and COMMIT too, and each of several in one message. PostgreSQL only: the
 * embedded database is not asked through `pg`.
 * @returns the texts, which grow until `stop` is called.
 */
export function countStatements(): { statements: string[]; stop(): void } {
  wrap();
  const statements: string[] = [];
  const listen = (statement: string) => void statements.push(statement);
  listeners.add(listen);
  return { statements, stop: () => void listeners.delete(listen) };
}

/** The statements that run while `work` does. Background work of the same process counts as well. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const { statements, stop } = countStatements();
  try {
    await work();
  } finally {
    stop();
  }
  return statements;
}

/**
 * What some work costs: the fewest statements of three times. What the clock or a worker starts in between belongs to none
 * of them, and what the work itself sends is in each.
 */
export async function fewestOf(count: () => Promise<string[]>): Promise<string[]> {
  const counts = [await count(), await count(), await count()];
  return counts.reduce((few, each) => (each.length < few.length ? each : few));
}

/** Whether a worker sent it to take jobs, or to keep them: how many end or begin together is up to the machine. */
export const isOfWorker = (statement: string): boolean =>
  /^WITH (done AS \(DELETE FROM jobs|renewed AS \(\s*UPDATE jobs)\b/.test(statement);

/** @throws an error that prints the statements when they are more than `most`. */
export function expectAtMost(most: number, statements: string[]): void {
  if (statements.length <= most) return;
  const list = statements.map((text, index) => `${index + 1}. ${text.replace(/\s+/g, ' ').slice(0, 300)}`);
  throw new Error(`${statements.length} statements, and at most ${most} may be:\n${list.join('\n')}`);
}

/** A quoted text or name, a dollar-quoted body, a comment, the end of a statement, or anything else. */
const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'"$\-/;]+|[$\-/]/g;

/** The statements of one message. */
export function statementsIn(text: string): string[] {
  const statements = [''];
  for (const [token] of text.matchAll(tokens)) {
    if (token === ';') statements.push('');
    else if (!token.startsWith('--') && !token.startsWith('/*')) statements[statements.length - 1] += token;
  }
  return statements.map((statement) => statement.trim()).filter(Boolean);
}
