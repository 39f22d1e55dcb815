// `npm run design`: writes src/pages/assets/tokens.css and src/pages/icons.ts from GitHub's design system: the colours, in
// four themes, and the icons that the style sheets and the pages name. They are in the repository, so nothing is built at
// start. test/docs/design.test.ts fails if they are not up to date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { format } from 'prettier';

const require = createRequire(import.meta.url);
const root = new URL('../', import.meta.url);
const options = { singleQuote: true, printWidth: 110, trailingComma: 'all' } as const;

/** The icons of the pages, by their names in Octicons. */
const icons = [
  'alert',
  'blocked',
  'calendar',
  'check-circle',
  'checklist',
  'circle-slash',
  'clock',
  'git-commit',
  'git-merge',
  'git-pull-request',
  'history',
  'gear',
  'kebab-horizontal',
  'lock',
  'question',
  'rocket',
  'search',
  'unlock',
] as const;

/** The values of a theme, with references resolved. */
function themeOf(name: string): Map<string, string> {
  const text = readFileSync(
    require.resolve(`@primer/primitives/dist/css/functional/themes/${name}.css`),
    'utf8',
  );
  const values = new Map(
    [...text.matchAll(/^\s*--([\w-]+): ([^;]+);/gm)].map(([, key, value]) => [key!, value!]),
  );
  const resolved = (value: string): string =>
    value.replaceAll(/var\(--([\w-]+)\)/g, (whole, key: string) => {
      const other = values.get(key);
      return other === undefined ? whole : resolved(other);
    });
  return new Map([...values].map(([key, value]) => [key, resolved(value)]));
}

/** The files that this writes, by their paths. */
export async function designFiles(): Promise<Map<string, string>> {
  const assets = new URL('src/pages/assets/', root);
  const style = readdirSync(assets)
    .filter((name) => name.endsWith('.css') && name !== 'tokens.css')
    .map((name) => readFileSync(new URL(name, assets), 'utf8'))
    .join('\n');
  const [light, dark, lightHigh, darkHigh] = [
    'light',
    'dark',
    'light-high-contrast',
    'dark-high-contrast',
  ].map(themeOf);
  const used = [...new Set([...style.matchAll(/var\(--([\w-]+)\)/g)].map(([, key]) => key!))]
    .filter((key) => light!.has(key))
    .sort();
  const pathOf = (name: string) => {
    const svg = readFileSync(require.resolve(`@primer/octicons/build/svg/${name}-16.svg`), 'utf8');
    return [...svg.matchAll(/ d="([^"]+)"/g)].map(([, d]) => d!).join('');
  };
  const cut = [...new Set([...style.matchAll(/var\(--icon-([\w-]+)\)/g)].map(([, name]) => name!))].sort();
  const block = (one: Map<string, string>, other: Map<string, string>) =>
    `:root {\n${used.map((key) => `--${key}: light-dark(${one.get(key)}, ${other.get(key)});`).join('\n')}\n}`;
  const css = `/*
 * Written by \`npm run design\` from @primer/primitives and @primer/octicons (MIT, GitHub Inc.): the colours and icons
 * that the style sheets name.
 */
${block(light!, dark!)}
:root {
${cut.map((name) => `--icon-${name}: path('${pathOf(name)}');`).join('\n')}
}
@media (prefers-contrast: more) {
${block(lightHigh!, darkHigh!)}
}`;
  const paths = icons.map((name) => [name, pathOf(name)]);
  const code = `// Written by \`npm run design\` from @primer/octicons (MIT, GitHub Inc.): 16 pixels, as the path of an SVG.
export const icons = ${JSON.stringify(Object.fromEntries(paths))} as const;`;
  return new Map([
    ['src/pages/assets/tokens.css', await format(css, { ...options, parser: 'css' })],
    ['src/pages/icons.ts', await format(code, { ...options, parser: 'typescript' })],
  ]);
}

if (import.meta.main)
  for (const [path, text] of await designFiles()) writeFileSync(new URL(path, root), text);
