import { beforeAll, describe, expect, test } from 'vitest';
import { type Library, readLibrary } from '../../../src/pages/help/help-routes.ts';
import { overviewName } from '../../../src/pages/help/address.ts';
import { renderDocument } from '../../../src/pages/help/render-document.ts';
import { documentAt, pages } from '../../docs/documents.ts';

let library: Library;
beforeAll(async () => {
  library = await readLibrary();
});

describe('the menu', () => {
  test('leads to every document of docs/ once', () => {
    const files = pages.flatMap((page) => /^docs\/([^/]+)\.md$/.exec(page)?.[1] ?? []);
    const listed = library.topics.flatMap(({ documents }) => documents.map(({ name }) => name));
    expect(listed.toSorted()).toEqual(files.filter((name) => name !== overviewName).toSorted());
  });

  test('every topic has a document, and is a row of the table in README with a link to its first one', () => {
    const readme = documentAt('README.md');
    const rows = [...readme.matchAll(/^\| \[([^\]]+)\]\(docs\/README\.md#[\w-]+\) +\| (.*) \|$/gm)];
    expect(rows.map(([, want]) => want)).toEqual(library.topics.map(({ want }) => want));
    for (const [index, { documents }] of library.topics.entries())
      for (const { name } of documents) expect(rows[index]![2]).toContain(`](docs/${name}.md)`);
  });
});

describe('a document', () => {
  const render = (markdown: string) => renderDocument('here', markdown, new Set(['here', 'there', 'README']));

  test('leads to other documents at their addresses, and elsewhere as it says', () => {
    const { html } = render(
      'http://x.example [a](there.md#part) [b](#own) [c](README.md) [d](https://example.com/x) [e](../src/server/app.ts) [f](gone.md)',
    );
    expect(html).toBe(
      '<p>http://x.example <a href="/help/there#part">a</a> <a href="/help/here#own">b</a> <a href="/help">c</a> ' +
        '<a href="https://example.com/x">d</a> e f</p>\n',
    );
  });

  test('shows HTML as text, and leaves comments out', () => {
    const { html } = render(
      '<script>alert(1)</script>\n\n<!-- rows -->\n\nsee <b onclick="x()">this</b><!-- y -->',
    );
    expect(html).not.toMatch(/<script|<b|<!--/);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.example/x.md',
    'file:///etc/passwd',
    'mailto:a@b',
  ])('does not link to %s', (href) => expect(render(`[x](${href})`).html).toBe('<p>x</p>\n'));

  test('has the anchors of GitHub, numbered if they repeat', () => {
    const { html, sections } = render(
      '# `GET /a_b`: an *idea*?\n\n## Same\n\ntext\n\n## Same\n\n| a | b |\n|--|--|\n| 1 | 2 |',
    );
    expect(sections.map(({ anchor }) => anchor)).toEqual(['get-a_b-an-idea', 'same', 'same-1']);
    expect(sections.map(({ text }) => text)).toEqual(['', 'text', 'a b 1 2']);
    for (const { anchor } of sections.slice(1)) expect(html).toContain(`id="${anchor}"`);
  });
});
