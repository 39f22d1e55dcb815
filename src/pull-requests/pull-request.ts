/** Something that GitHub was asked for: its value, or why it is not known. */
export type Fact<Value> = { known: true; value: Value } | { known: false; reason: string };

/** What conditions can read of a pull request. Each fact that can fail to load on its own is a `Fact`. */
export type PullRequestFacts = {
  number: number;
  /** GitHub's GraphQL id. */
  nodeId: string;
  headSha: string;
  isDraft: boolean;
  title: string;
  /** The login, with `[bot]` for bots; null for a deleted account. */
  author: string | null;
  /** Branch names, without `refs/heads/`. */
  base: string;
  head: string;
  labels: Fact<string[]>;
  /** Paths of changed files; a rename stands at both. */
  files: Fact<string[]>;
  /** What CI pushed. `all`: the pull request touches everything. */
  scopes: { names: string[]; all: boolean };
};
