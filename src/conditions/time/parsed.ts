/** The result of reading a text, or its problem and the place. */
export type Parsed<Value> =
  | { ok: true; value: Value }
  | {
      ok: false;
      message: string;
      /** Offset in the text, from 0; always inside it (0 in an empty one). */
      at: number;
    };
