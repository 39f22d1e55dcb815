import type { TokenKind } from './authenticate.ts';

export interface LoggedRequest {
  method: string;
  /** With its query string. */
  path: string;
  tokenKind: TokenKind;
  /** Null while it is being answered, and when the connection was cut. */
  status: number | null;
  /** GraphQL only. */
  operationName?: string;
  /** GraphQL only: of the variables `owner` and `name`. */
  repository?: string;
  /** The instant that a stale answer shows, in milliseconds. */
  asOf?: number;
  at: Date;
}

/** Every request in order of arrival. */
export class RequestLog extends Array<LoggedRequest> {
  static override get [Symbol.species]() {
    return Array;
  }

  clear(): void {
    this.length = 0;
  }
}
