/** A part of a document. */
export type Address = {
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
