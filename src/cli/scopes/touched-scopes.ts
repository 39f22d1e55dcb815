import type { ScopesFile } from './scopes-file.ts';

/** What changed paths touch: each scope with its paths, in the order of the file, and the paths that touch everything. */
export type TouchedScopes = { scopes: Map<string, string[]>; all: string[] };

/** @param paths that changed, from the root of the repository, with `/` between folders. */
export function touchedScopes(file: ScopesFile, paths: string[]): TouchedScopes {
  const scopes = [...file.scopes].map(([name, test]) => [name, paths.filter(test)] as const);
  return {
    scopes: new Map(scopes.filter(([, touching]) => touching.length > 0).map(([name, its]) => [name, its])),
    all: paths.filter(file.allScopes),
  };
}
