// For every test file of a run with probes: hands over which functions its tests reached.
import { afterAll, beforeAll } from 'vitest';

declare global {
  var reachedFunctions: Set<string> | undefined;
}

declare module 'vitest' {
  interface TaskMeta {
    reached?: string[];
  }
}

const reached = new Set<string>();
// Files follow each other in one process. What runs when a module is loaded says nothing about the file that happens to
// be the first to load it.
beforeAll(() => {
  globalThis.reachedFunctions = reached;
});
// Of the hooks after all tests the first one is the last to run.
// eslint-disable-next-line no-empty-pattern -- Vitest reads from the pattern which fixtures a hook wants
afterAll(({}, { file }) => {
  globalThis.reachedFunctions = undefined;
  file.meta.reached = [...reached];
});
