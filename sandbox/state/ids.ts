import { createHash } from 'node:crypto';

/** Node id prefixes as GitHub writes them, by GraphQL type. */
const prefixes = {
  User: 'U',
  Organization: 'O',
  Bot: 'BOT',
  Repository: 'R',
  PullRequest: 'PR',
  Label: 'LA',
  StatusContext: 'SC',
  Commit: 'C',
  Push: 'PSH',
  PullRequestReview: 'PRR',
  PullRequestReviewThread: 'PRRT',
  IssueComment: 'IC',
  Milestone: 'MI',
  MergeQueue: 'MQ',
  MergeQueueEntry: 'MQE',
  Stack: 'S',
  Environment: 'EN',
  Ref: 'REF',
} as const;

export type NodeType = keyof typeof prefixes;

/** A global node id in GitHub's format: a prefix and a MessagePack array of numbers in base64url. */
export function nodeId(type: NodeType, ...ids: number[]): string {
  const bytes = Buffer.alloc(2 + 5 * ids.length);
  bytes[0] = 0x91 + ids.length;
  ids.forEach((id, index) => {
    bytes[2 + 5 * index] = 0xce;
    bytes.writeUInt32BE(id, 3 + 5 * index);
  });
  return `${prefixes[type]}_${bytes.toString('base64url')}`;
}

/** Installations still have ids of the old format. */
export function installationNodeId(id: number): string {
  return Buffer.from(`023:IntegrationInstallation${id}`).toString('base64');
}

/** Reads a node id; null if it is not one of ours. */
export function decodeNodeId(id: string): { type: NodeType; ids: number[] } | null {
  const [, prefix, encoded] = /^([A-Z]+)_([\w-]+)$/.exec(id) ?? [];
  const type = (Object.keys(prefixes) as NodeType[]).find((name) => prefixes[name] === prefix);
  if (!type || !encoded) return null;
  const bytes = Buffer.from(encoded, 'base64url');
  const ids: number[] = [];
  for (let at = 3; at + 4 <= bytes.length; at += 5) ids.push(bytes.readUInt32BE(at));
  return { type, ids };
}

/** Numbers, SHAs and token bodies that are the same in every run, so that you can run a failing test again. */
export class IdSource {
  readonly #last = new Map<string, number>();
  readonly #seed: string;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** The next number of a series; `from` gives each series the magnitude that it has on GitHub. */
  next(series: string, from: number): number {
    const id = (this.#last.get(series) ?? from) + 1;
    this.#last.set(series, id);
    return id;
  }

  sha(): string {
    return this.#hash('sha1', `sha:${this.next('sha', 0)}`).toString('hex');
  }

  /** `length` letters and digits, the same for the same name. */
  characters(name: string, length: number): string {
    let text = '';
    for (let part = 0; text.length < length; part += 1) {
      text += this.#hash('sha512', `${name}:${part}`).toString('base64').replaceAll(/[+/=]/g, '');
    }
    return text.slice(0, length);
  }

  #hash(algorithm: string, text: string): Buffer {
    return createHash(algorithm).update(`${this.#seed}:${text}`).digest();
  }
}
