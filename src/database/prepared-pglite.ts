import { setImmediate as nextTurn } from 'node:timers/promises';
import { PGlite, protocol, type QueryOptions, type Results, type Transaction } from '@electric-sql/pglite';
import { LRUCache } from 'lru-cache';
import { BothEnds } from './both-ends.ts';
import { DatabaseTrouble, explainTrouble, kindOf } from './trouble.ts';

const { serialize } = protocol;

/** A statement that PostgreSQL has parsed and planned, with the types of its parameters and columns. */
type Prepared = { name: string; parameters: number[]; fields: { name: string; dataTypeID: number }[] };

/**
 * Milliseconds of statements after which the event loop has a turn. PostgreSQL works in this thread, and its answers come
 * in microtasks: while statements follow each other, no request, no timer and no signal would be served.
 */
const longestTurn = 5;
/** How many turns it has then. A request or an answer of GitHub needs several, and turns without work cost nothing. */
const turnsGiven = 4;

type Message = Awaited<ReturnType<PGlite['execProtocolStream']>>[number];
type Hear = (payload: string) => void;

/** The most statements. Prisma makes a text for each length of a list, so there are many. */
const mostPrepared = 200;

/**
 * A PGlite that prepares each statement once, and reads rows from the bytes of the answer. PGlite itself parses and plans
 * a statement at each call, and calls PostgreSQL six times for it: measured, this is four fifths of the time of a short
 * statement. It also makes an object of each message: measured, this is half to two thirds of what is left with rows.
 */
export class PreparedPglite extends PGlite {
  readonly #statements = new LRUCache<string, Prepared>({
    max: mostPrepared,
    dispose: ({ name }) => this.#forgotten.push(name),
  });
  /** PostgreSQL drops them with the next statement. */
  #forgotten: string[] = [];
  #named = 0;
  /** Why PostgreSQL is no more. It would turn in a circle for ever if it were asked again. */
  #end: DatabaseTrouble | null = null;
  /** Hears what goes wrong with the database. */
  onTrouble: (trouble: DatabaseTrouble) => void = () => {};
  /** Hears that it is no more: only a new process can open it again. */
  onEnd: (trouble: DatabaseTrouble) => void = () => {};
  /** By channel. PGlite's own listeners do not hear of answers whose bytes are read here. */
  readonly #listeners = new Map<string, Set<Hear>>();
  /** When this turn of the event loop had its first statement; null before that. */
  #turnBegan: number | null = null;
  readonly #line = new BothEnds();

  override async query<Row>(text: string, values?: unknown[], options?: QueryOptions): Promise<Results<Row>> {
    await this._checkReady();
    return this._runExclusiveTransaction(() => this.#run<Row>(text, values, options));
  }

  /** Every statement and transaction of others comes through it. */
  override _runExclusiveTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#line.run(() => super._runExclusiveTransaction(work));
  }

  override async exec(...given: Parameters<PGlite['exec']>) {
    return super.exec(...given).catch((error: unknown) => this.#fail(error));
  }

  /** Everything that is asked goes through it. */
  override execProtocolRawSync(message: Uint8Array): Uint8Array {
    if (this.#end) throw this.#end;
    try {
      const answer = super.execProtocolRawSync(message);
      if (answer.length < longestPanic && Buffer.from(answer).includes(panicked))
        this.#stop(parse(answer)[0]);
      return answer;
    } catch (error) {
      // It called `abort`.
      if (error instanceof Error && error.name === 'RuntimeError') this.#stop(error);
      throw error;
    }
  }

  override async close(): Promise<void> {
    if (!this.#end) await super.close();
  }

  #stop(error: unknown): void {
    if (this.#end) return;
    this.#end = new DatabaseTrouble(kindOf(error) ?? 'failing', false, error);
    this.onEnd(this.#end);
  }

  /** @throws what is wrong with the database, or the error itself. */
  #fail(error: unknown): never {
    if (isPanic(error)) this.#stop(error);
    const explained = this.#end ?? explainTrouble(error, true);
    if (explained instanceof DatabaseTrouble) this.onTrouble(explained);
    throw explained;
  }

  override async listen(channel: string, hear: Hear, tx?: Transaction) {
    const close = await super.listen(channel, hear, tx);
    const heard = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, heard.add(hear));
    return async (inside?: Transaction) => {
      heard.delete(hear);
      await close(inside);
    };
  }

  override transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const done = super.transaction((tx) => {
      // A closed database refuses with its own error.
      const query: Transaction['query'] = (text, values, options) =>
        tx.closed ? tx.query(text, values, options) : this.#run(text, values, options);
      return work(Object.create(tx, { query: { value: query } }) as Transaction);
    });
    return done.catch((error: unknown) => this.#fail(error));
  }

  #run<Row>(text: string, values: unknown[] = [], options?: QueryOptions): Promise<Results<Row>> {
    return this._runExclusiveQuery(async () => {
      await this.#giveTurn();
      const statement =
        this.#statements.get(text) ??
        (await this.#prepare(text).catch((error: unknown) => this.#fail(error)));
      const texts = values.map((value, index) => this.#textOf(value, statement.parameters[index]!));
      const bind = serialize.bind({ statement: statement.name, values: texts });
      try {
        const answer = await this.#ask(bind, serialize.execute({}));
        return this.#resultsOf<Row>(answer, statement, options);
      } catch (error) {
        // Its tables may have changed. The next call prepares it again.
        this.#statements.delete(text);
        return this.#fail(error);
      }
    });
  }

  /** Has the event loop turn if statements have kept it for long. */
  async #giveTurn(): Promise<void> {
    if (this.#turnBegan !== null && performance.now() - this.#turnBegan >= longestTurn)
      for (let given = 0; given < turnsGiven; given++) await nextTurn();
    if (this.#turnBegan !== null) return;
    this.#turnBegan = performance.now();
    setImmediate(() => (this.#turnBegan = null));
  }

  async #prepare(text: string): Promise<Prepared> {
    const name = `holdfast_${++this.#named}`;
    const messages = parse(
      await this.#ask(serialize.parse({ name, text }), serialize.describe({ type: 'S', name })),
    );
    const statement: Prepared = { name, parameters: [], fields: [] };
    for (const message of messages) {
      if (message instanceof Error) throw message;
      if (isParameters(message)) statement.parameters = message.dataTypeIDs;
      if (isFields(message)) statement.fields = message.fields;
    }
    this.#statements.set(text, statement);
    return statement;
  }

  /** Sends messages and `sync` at once, because each call goes into WebAssembly and back. @returns the answer's bytes. */
  async #ask(...messages: Uint8Array[]): Promise<Buffer> {
    const forgotten = this.#forgotten.map((name) => serialize.close({ type: 'S', name }));
    this.#forgotten = [];
    const chunks: Buffer[] = [];
    await this.execProtocolRawStream(Buffer.concat([...forgotten, ...messages, serialize.sync()]), {
      syncToFs: false,
      // PGlite overwrites them.
      onRawData: (bytes) => void chunks.push(Buffer.from(bytes)),
    });
    return Buffer.concat(chunks);
  }

  #textOf(value: unknown, type: number): string | null {
    if (value === null || value === undefined) return null;
    return this.serializers[type]?.(value) ?? String(value);
  }

  #resultsOf<Row>(answer: Buffer, { fields }: Prepared, options: QueryOptions = {}): Results<Row> {
    const columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: options.parsers?.[dataTypeID] ?? (this.parsers as Parsers)[dataTypeID],
    }));
    const rows: unknown[] = [];
    let affectedRows = 0;
    for (let at = 0; at < answer.length; at += 1 + answer.readInt32BE(at + 1)) {
      switch (answer[at]) {
        case kinds.row: {
          const values = valuesOf(answer, at + afterHead, columns);
          rows.push(options.rowMode === 'array' ? values : named(columns, values));
          break;
        }
        case kinds.complete:
          affectedRows = countIn(textAt(answer, at + afterHead));
          break;
        case kinds.error:
          throw parse(answer.subarray(at))[0] as unknown as Error;
        case kinds.notification:
          this.#tell(answer, at + afterHead);
      }
    }
    return { rows: rows as Row[], fields, affectedRows };
  }

  #tell(answer: Buffer, at: number): void {
    const channel = textAt(answer, at + processId);
    const payload = textAt(answer, at + processId + Buffer.byteLength(channel) + 1);
    for (const hear of this.#listeners.get(channel) ?? []) queueMicrotask(() => hear(payload));
  }
}

/** The severity of an error after which PostgreSQL ends. */
const panicked = 'SPANIC\0';
/** Bytes of an answer that says so. */
const longestPanic = 8192;

const isPanic = (error: unknown): boolean => (error as { severity?: unknown } | null)?.severity === 'PANIC';

// A message of PostgreSQL's protocol is a byte for its kind, four for its length without that byte, and its content.
const kinds = { row: 0x44, complete: 0x43, error: 0x45, notification: 0x41 };
const afterHead = 5;
/** Bytes of the process that notifies, before the channel. */
const processId = 4;

type Column = { name: string; parse: ((text: string) => unknown) | undefined };

/** The values of a row: a count of two bytes, then each with four for its length, which is -1 for null. */
function valuesOf(answer: Buffer, from: number, columns: Column[]): unknown[] {
  let at = from + 2;
  return columns.map(({ parse }) => {
    const length = answer.readInt32BE(at);
    at += 4;
    if (length === -1) return null;
    const text = answer.toString('utf8', at, at + length);
    at += length;
    return parse ? parse(text) : text;
  });
}

function named(columns: Column[], values: unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [index, { name }] of columns.entries()) row[name] = values[index];
  return row;
}

/** The text that a zero ends. */
const textAt = (answer: Buffer, at: number): string => answer.toString('utf8', at, answer.indexOf(0, at));

/** As objects of PGlite, for what is rare. An error among them is what PGlite throws. */
function parse(answer: Uint8Array): Message[] {
  const messages: Message[] = [];
  new protocol.Parser().parse(answer, (message) => void messages.push(message));
  return messages;
}

type Parsers = NonNullable<QueryOptions['parsers']>;

const isParameters = (message: Message): message is Message & { dataTypeIDs: number[] } =>
  message.name === 'parameterDescription';
const isFields = (message: Message): message is Message & { fields: Prepared['fields'] } =>
  message.name === 'rowDescription';
/** `INSERT 0 3` and `UPDATE 3` are about three rows. */
const countIn = (tag: string): number =>
  /^(INSERT|UPDATE|DELETE|COPY|MERGE) /.test(tag) ? Number(tag.split(' ').at(-1)) : 0;
