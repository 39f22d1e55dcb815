/** docs/ of the version that runs. */
export const docsFolder = new URL('../../../docs/', import.meta.url);

/** docs/README.md, which GitHub shows with the folder and `/help` shows first. */
export const overviewName = 'README';

/** A part of a document. */
type Address = {
  /** Of the document: `install` is docs/install.md. */
  name: string;
  /** With its `#`; empty for the top of the document. */
  hash: string;
};

/** The document of docs/ that a link of another one leads to; null if it leads anywhere else. */
export function documentAt(href: string, from: string): Address | null {
  const { protocol, pathname, hash } = new URL(href, `file:///docs/${from}.md`);
  const name = protocol === 'file:' ? /^\/docs\/([\w-]+)\.md$/.exec(pathname)?.[1] : undefined;
  return name === undefined ? null : { name, hash };
}

/** The picture of docs/pictures/ that a document shows; null if it is not one of them. */
export function pictureAt(href: string, from: string): string | null {
  const { protocol, pathname } = new URL(href, `file:///docs/${from}.md`);
  return (protocol === 'file:' && /^\/docs\/pictures\/([\w-]+\.png)$/.exec(pathname)?.[1]) || null;
}

/** Where `/help` shows a document. */
export const documentPath = (name: string): string => (name === overviewName ? '/help' : `/help/${name}`);
