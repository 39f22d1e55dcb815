import { PGlite, protocol, type QueryOptions, type Results, type Transaction } from '@electric-sql/pglite';
import { LRUCache } from 'lru-cache';

const { serialize } = protocol;

/** A statement that PostgreSQL has parsed and planned, with the types of its parameters and columns. */
type Prepared = { name: string; parameters: number[]; fields: { name: string; dataTypeID: number }[] };

type Message = Awaited<ReturnType<PGlite['execProtocolStream']>>[number];

/** The most statements. Prisma makes a text for each length of a list, so there are many. */
const mostPrepared = 200;

/**
 * A PGlite that prepares each statement once. PGlite itself parses and plans it at each call, and calls PostgreSQL six
 * times for it: measured, this is four fifths of the time of a short statement.
 */
export class PreparedPglite extends PGlite {
  readonly #statements = new LRUCache<string, Prepared>({
    max: mostPrepared,
    dispose: ({ name }) => this.#forgotten.push(name),
  });
  /** PostgreSQL drops them with the next statement. */
  #forgotten: string[] = [];
  #named = 0;

  override async query<Row>(text: string, values?: unknown[], options?: QueryOptions): Promise<Results<Row>> {
    await this._checkReady();
    return this._runExclusiveTransaction(async () => {
      const results = await this.#run<Row>(text, values, options);
      await this.syncToFs();
      return results;
    });
  }

  override transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return super.transaction((tx) => {
      // A closed database refuses with its own error.
      const query: Transaction['query'] = (text, values, options) =>
        tx.closed ? tx.query(text, values, options) : this.#run(text, values, options);
      return work(Object.create(tx, { query: { value: query } }) as Transaction);
    });
  }

  #run<Row>(text: string, values: unknown[] = [], options?: QueryOptions): Promise<Results<Row>> {
    return this._runExclusiveQuery(async () => {
      const statement = this.#statements.get(text) ?? (await this.#prepare(text));
      const texts = values.map((value, index) => this.#textOf(value, statement.parameters[index]!));
      const bind = serialize.bind({ statement: statement.name, values: texts });
      try {
        return this.#resultsOf<Row>(statement, await this.#send(bind, serialize.execute({})), options);
      } catch (error) {
        // Its tables may have changed. The next call prepares it again.
        this.#statements.delete(text);
        throw error;
      }
    });
  }

  async #prepare(text: string): Promise<Prepared> {
    const name = `holdfast_${++this.#named}`;
    const messages = await this.#send(
      serialize.parse({ name, text }),
      serialize.describe({ type: 'S', name }),
    );
    const statement: Prepared = { name, parameters: [], fields: [] };
    for (const message of messages) {
      if (isParameters(message)) statement.parameters = message.dataTypeIDs;
      if (isFields(message)) statement.fields = message.fields;
    }
    this.#statements.set(text, statement);
    return statement;
  }

  /** Sends messages and `sync` at once, because each call goes into WebAssembly and back. */
  #send(...messages: Uint8Array[]): Promise<Message[]> {
    const forgotten = this.#forgotten.map((name) => serialize.close({ type: 'S', name }));
    this.#forgotten = [];
    const all = Buffer.concat([...forgotten, ...messages, serialize.sync()]);
    return this.execProtocolStream(all, { syncToFs: false });
  }

  #textOf(value: unknown, type: number): string | null {
    if (value === null || value === undefined) return null;
    return this.serializers[type]?.(value) ?? String(value);
  }

  #resultsOf<Row>({ fields }: Prepared, messages: Message[], options: QueryOptions = {}): Results<Row> {
    const columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: options.parsers?.[dataTypeID] ?? (this.parsers as Parsers)[dataTypeID],
    }));
    const rows: unknown[] = [];
    let affectedRows = 0;
    for (const message of messages) {
      if (isComplete(message)) affectedRows = countIn(message.text);
      if (!isRow(message)) continue;
      const values = columns.map(({ parse }, index) => {
        const text = message.fields[index] ?? null;
        return text === null || !parse ? text : (parse(text) as unknown);
      });
      rows.push(
        options.rowMode === 'array'
          ? values
          : Object.fromEntries(columns.map(({ name }, index) => [name, values[index]])),
      );
    }
    return { rows: rows as Row[], fields, affectedRows };
  }
}

type Parsers = NonNullable<QueryOptions['parsers']>;

const isParameters = (message: Message): message is Message & { dataTypeIDs: number[] } =>
  message.name === 'parameterDescription';
const isFields = (message: Message): message is Message & { fields: Prepared['fields'] } =>
  message.name === 'rowDescription';
const isRow = (message: Message): message is Message & { fields: (string | null)[] } =>
  message.name === 'dataRow';
const isComplete = (message: Message): message is Message & { text: string } =>
  message.name === 'commandComplete';

/** `INSERT 0 3` and `UPDATE 3` are about three rows. */
const countIn = (tag: string): number =>
  /^(INSERT|UPDATE|DELETE|COPY|MERGE) /.test(tag) ? Number(tag.split(' ').at(-1)) : 0;
