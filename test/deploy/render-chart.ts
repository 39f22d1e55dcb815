import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { documentAt } from '../docs/documents.ts';
import { isWhole } from '../support/amounts.ts';
import { repositoryRoot } from '../support/clean-copy.ts';

// The chart, rendered by Go's own templates with Sprig (Debian's golang-go and golang-github-masterminds-sprig-dev),
// and held to the types of Kubernetes' objects, which are made from its OpenAPI document.

type Values = Record<string, Record<string, unknown>>;
type Container = {
  image: string;
  env: { name: string; value: string }[];
  securityContext: object;
  [probe: string]: unknown;
};
export type Labels = Record<string, string>;
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Labels };
  spec: {
    template: { metadata: { labels: Labels }; spec: { containers: Container[] } & Record<string, unknown> };
  } & Record<string, unknown>;
};

export const defaults = parse(documentAt('deploy/helm/values.yaml')) as Values;

/** Values over the defaults, two levels deep as the chart has them. */
export const withDefaults = (given: object): Values =>
  Object.fromEntries(
    Object.entries({ ...defaults, ...given }).map(([name, value]) => {
      const isPart = typeof value === 'object' && !Array.isArray(value) && name in defaults;
      return [name, isPart ? { ...defaults[name], ...value } : value];
    }),
  ) as Values;

const sources = '/usr/share/gocode';
const sprig = 'src/github.com/Masterminds/sprig/functions.go';
/** CI leaves nothing out. */
export const whyNot = isWhole
  ? null
  : !existsSync(join(sources, sprig))
    ? 'there is no golang-github-masterminds-sprig-dev'
    : spawnSync('go', ['version']).status !== 0
      ? 'there is no golang-go'
      : null;

export const render = (given: object): Manifest[] => install(given).manifests;

/** What Helm makes of the values, and the notes that it prints then. */
export function install(given: object): { manifests: Manifest[]; notes: string } {
  const root = {
    Values: withDefaults(given),
    Release: { Name: 'prod', Service: 'Helm', Namespace: 'holdfast' },
    Chart: { AppVersion: '1.2.3' },
  };
  const { status, stdout, stderr } = spawnSync('go', ['run', 'test/deploy/render-chart.go'], {
    cwd: repositoryRoot,
    input: JSON.stringify({ chart: 'deploy/helm', root }),
    env: { ...process.env, GO111MODULE: 'off', GOPATH: sources, GOFLAGS: '' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  const manifests = parseAllDocuments(stdout)
    .map((each) => {
      if (each.errors.length > 0) throw each.errors[0]!;
      return each.toJS() as Manifest | null;
    })
    .filter((each) => each !== null);
  return { manifests, notes: stderr };
}

/** Where the types of an API version are. */
function moduleOf(apiVersion: string): string {
  if (apiVersion === 'monitoring.coreos.com/v1') return './prometheus-operator';
  const group = apiVersion.includes('/') ? apiVersion.replace('.k8s.io/', '/') : `core/${apiVersion}`;
  return `kubernetes-types/${group}`;
}

/** TypeScript's errors about manifests as objects of Kubernetes: unknown fields, wrong types, missing ones. */
export function complaintsAbout(manifests: Manifest[]): string[] {
  const lines = manifests.map(({ apiVersion, kind, ...rest }, index) => {
    const module = moduleOf(apiVersion);
    const object = JSON.stringify({ apiVersion, kind, ...rest });
    return `import type { ${kind} as T${index} } from '${module}.d.ts';\nexport const o${index}: T${index} = ${object};`;
  });
  const name = join(repositoryRoot, 'test/deploy/rendered.ts');
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    allowImportingTsExtensions: true,
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (path, ...more) =>
    path === name ? ts.createSourceFile(path, lines.join('\n'), ts.ScriptTarget.Latest) : read(path, ...more);
  const program = ts.createProgram(
    [name],
    { ...options, moduleResolution: ts.ModuleResolutionKind.Bundler, module: ts.ModuleKind.ESNext },
    host,
  );
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
