import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The actions, by the names of their folders, and the programs that they run. */
const programs = {
  'push-scopes': 'src/cli/scopes/push-scopes-action.ts',
  gate: 'src/cli/freezing/gate-action.ts',
} as const;

export type Action = keyof typeof programs;
export const actions = Object.keys(programs) as Action[];

/**
 * Bundles the program of an action into one file for Node 20 and later, with the licenses of its packages.
 * @returns the files in its folder beside action.yml, by their names.
 */
export async function bundleAction(action: Action): Promise<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const bundle = await rolldown({
    input: join(root, programs[action]),
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
  const licenses = licensesOf(output[0].moduleIds);
  const beside = licenses && ' LICENSES.txt has the licenses of its packages.';
  const head = `// Made by npm run build:action from ${programs[action]}.${beside}\n`;
  return {
    [`${action}.mjs`]: head + output[0].code,
    ...(licenses && { 'LICENSES.txt': licenses }),
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
