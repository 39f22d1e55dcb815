import { readdir, readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { docsFolder, overviewName } from './address.ts';
import { readNavigation, type Topic } from './navigation.ts';
import { type HelpDocument, renderDocument } from './render-document.ts';
import { type Search, searchDocuments } from './search-documents.ts';

/** The documents of this version, as they are served. */
export type Library = {
  topics: Topic[];
  /** By name; docs/README.md is {@link overviewName}. */
  documents: ReadonlyMap<string, HelpDocument>;
  search: Search;
};

/** Reads and renders docs/*.md: some hundred milliseconds, in pieces, so that other requests are answered meanwhile. */
export async function readLibrary(): Promise<Library> {
  const files = (await readdir(docsFolder)).filter((file) => file.endsWith('.md')).toSorted();
  const names = new Set(files.map((file) => file.slice(0, -'.md'.length)));
  const documents = new Map<string, HelpDocument>();
  let topics: Topic[] = [];
  for (const name of names) {
    const markdown = await readFile(new URL(`${name}.md`, docsFolder), 'utf8');
    if (name === overviewName) topics = readNavigation(markdown);
    documents.set(name, renderDocument(name, markdown, names));
    await setImmediate();
  }
  // docs/README.md says nothing but where the others are.
  const listed = topics.flatMap((topic) => topic.documents.flatMap(({ name }) => documents.get(name) ?? []));
  return { topics, documents, search: await searchDocuments(listed) };
}
