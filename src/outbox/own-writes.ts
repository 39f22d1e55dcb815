import type { ForeignStatus } from '../queue/jobs.ts';
import type { Status } from './status.ts';

/** GitHub tells of a status within seconds; so many of ours come before it is forgotten here. */
const mostKnown = 10_000;

/**
 * The statuses that this process is writing, and those that it wrote lately. GitHub sends an event for each: an echo,
 * which is known here without a question to the database. What another process wrote is not known here.
 */
export class OwnWrites {
  readonly #underWay = new Set<Status & { sha: string }>();
  readonly #written = new Set<string>();

  /** Writes, and remembers what was written. @throws what the write throws. */
  async during<Posted extends { id: bigint }>(
    sha: string,
    { state, description }: Status,
    write: () => Promise<Posted>,
  ): Promise<Posted> {
    const own = { sha, state, description };
    this.#underWay.add(own);
    try {
      const posted = await write();
      this.#remember(`${sha} ${posted.id}`);
      return posted;
    } finally {
      this.#underWay.delete(own);
    }
  }

  /** Whether an event tells of a write of ours. While that is under way its id is not known, only what it says. */
  isEcho(sha: string, { id, state, description, by }: ForeignStatus): boolean {
    if (this.#written.has(`${sha} ${id}`)) return true;
    if (!by.endsWith('[bot]')) return false;
    return [...this.#underWay].some(
      (own) => own.sha === sha && own.state === state && own.description === description,
    );
  }

  #remember(key: string): void {
    this.#written.add(key);
    const [oldest] = this.#written;
    if (this.#written.size > mostKnown) this.#written.delete(oldest!);
  }
}
