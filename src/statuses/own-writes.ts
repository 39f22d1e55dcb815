import { LRUCache } from 'lru-cache';
import type { ForeignStatus } from '../database/queue/jobs.ts';
import type { Status } from './status.ts';

/** How many of our writes we remember. GitHub sends the event of a status within seconds. */
const mostKnown = 10_000;

/**
 * The statuses that this process is writing or wrote recently. GitHub sends an event for each. This recognizes such
 * echoes without asking the database. It does not know the writes of other processes.
 */
export class OwnWrites {
  readonly #underWay = new Set<Status & { sha: string }>();
  readonly #written = new LRUCache<string, true>({ max: mostKnown });

  /** Writes a status and remembers it. @throws what the write throws. */
  async during<Posted extends { id: bigint }>(
    sha: string,
    { state, description }: Status,
    write: () => Promise<Posted>,
  ): Promise<Posted> {
    const own = { sha, state, description };
    this.#underWay.add(own);
    try {
      const posted = await write();
      this.#written.set(`${sha} ${posted.id}`, true);
      return posted;
    } finally {
      this.#underWay.delete(own);
    }
  }

  /** Whether an event is about one of our writes. During a write we only know its content, not its id. */
  isEcho(sha: string, { id, state, description, by }: ForeignStatus): boolean {
    if (this.#written.has(`${sha} ${id}`)) return true;
    if (!by.endsWith('[bot]')) return false;
    return [...this.#underWay].some(
      (own) => own.sha === sha && own.state === state && own.description === description,
    );
  }
}
