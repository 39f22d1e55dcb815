import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The files in the folder of an action beside its action.yml, by name. */
export type ActionFiles = { 'push-scopes.mjs': string; 'LICENSES.txt': string };

/**
 * Bundles the program of actions/push-scopes into one file for Node 20 and later, with the licenses of its packages.
 */
export async function bundleAction(): Promise<ActionFiles> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const bundle = await rolldown({
    input: join(root, 'src/cli/scopes/push-scopes-action.ts'),
    cwd: root,
    platform: 'node',
    transform: { target: 'node20' },
    // The folder of the action has no package.json to read it from.
    plugins: [
      {
        name: 'version',
        load: (id) =>
          id === join(root, 'src/cli/version.ts')
            ? `export const version = () => ${JSON.stringify(version)};`
            : null,
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false, comments: false });
  await bundle.close();
  if (output.length !== 1) throw new Error('The action is not one file.');
  const head =
    '// Made by npm run build:action from src/cli/scopes/push-scopes-action.ts. LICENSES.txt has the licenses of its packages.\n';
  return {
    'push-scopes.mjs': head + output[0].code,
    'LICENSES.txt': licensesOf(output[0].moduleIds),
  };
}

/** The licenses of the packages of these files. */
function licensesOf(files: string[]): string {
  const packages = new Set(
    files.flatMap((file) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
  );
  return [...packages]
    .toSorted((one, other) => (basename(one) < basename(other) ? -1 : 1))
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
    })
    .join('\n----\n\n');
}
