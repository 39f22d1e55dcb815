/** What Dependabot says about its update: names such as `@types/node`, types, and kinds of update. */
export type DependabotMetadata = { names: string[]; types: string[]; updates: string[] };

/**
 * Reads the block that Dependabot writes into its commit messages; null if no message has one.
 *
 *     ---
 *     updated-dependencies:
 *     - dependency-name: "@types/node"
 *       dependency-type: direct:development
 *       update-type: version-update:semver-patch
 *     ...
 */
export function dependabotMetadata(messages: string[]): DependabotMetadata | null {
  const blocks = messages.map(blockOf).filter((block) => block !== null);
  if (blocks.length === 0) return null;
  const entries = blocks.flat().flatMap((line) => [...line.matchAll(entry)]);
  const valuesOf = (key: string) => [
    ...new Set(entries.filter((each) => each[1] === key).map((each) => unquoted(each[2]!))),
  ];
  return {
    names: valuesOf('dependency-name'),
    types: valuesOf('dependency-type'),
    updates: valuesOf('update-type'),
  };
}

const entry = /^(?:- | {2})([a-z-]+): (\S.*)$/g;

/** The lines below `updated-dependencies:`. */
function blockOf(message: string): string[] | null {
  const lines = message.split(/\r?\n/).map((line) => line.trimEnd());
  const title = lines.findIndex((line, at) => line === 'updated-dependencies:' && lines[at - 1] === '---');
  const end = lines.indexOf('...', title);
  return title < 0 || end < 0 ? null : lines.slice(title + 1, end);
}

/** YAML quotes a name that begins with `@`. */
function unquoted(text: string): string {
  const [, quote, inner] = /^(["'])(.*)\1$/.exec(text) ?? [];
  if (inner === undefined) return text;
  return quote === '"' ? inner.replace(/\\(.)/g, '$1') : inner.replaceAll("''", "'");
}
