// Borders are lint rules: an import that goes up the floors of src/, or out of pure code, fails `npm run lint`.
import { dirname, matchesGlob, relative, resolve } from 'node:path';
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const io = [
  {
    group: ['**/generated/**', '@prisma/*', 'pg', '@electric-sql/*'],
    message: 'Pure code takes values, not a database.',
  },
  { group: ['probot', '@octokit/*'], message: 'Pure code takes facts, not GitHub.' },
  { group: ['hono', 'hono/*', '@hono/*'], message: 'Pure code knows nothing of HTTP.' },
];
const process = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only src/config.ts and src/cli/world.ts read the environment.',
};
const wallClock = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Ask the injected clock (src/time/clock.ts).',
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Ask the injected clock (src/time/clock.ts).',
  },
  {
    selector: "MemberExpression[object.name='Temporal'][property.name='Now']",
    message: 'Ask the injected clock (src/time/clock.ts).',
  },
];

/**
 * The floors of `src/`, the highest first: a file imports only what stands below it, and a folder is one floor. The eight
 * files beside the folders are floors too: `main.ts` stands on all of them, and all stand on the rest.
 */
const floors = [
  'main.ts',
  'server',
  'webhooks',
  'pages',
  'api',
  'prove',
  'cli',
  'explanations',
  'deployments',
  'statuses',
  'auth',
  'plans',
  'freezes',
  'notices',
  'installations',
  'github',
  'events',
  'conditions',
  'outside',
  'database',
  'deps.ts',
  'config.ts',
  'config-values.ts',
  'secret-files.ts',
  'private-key.ts',
  'dot-env.ts',
  'address-here.ts',
  'errors.ts',
  'cut-text.ts',
  'time',
];
/** One list of everything that use cases take: it names types of every floor, and no values. */
const namesTypesOfAll = 'src/deps.ts';

/** Takes values and gives values: no database, no GitHub, no HTTP, and nothing that has them. */
const pure = [
  'src/cut-text.ts',
  'src/conditions/**',
  'src/cut-text.ts',
  'src/explanations/enforcement/finding.ts',
  'src/explanations/enforcement/judge-*.ts',
  'src/cli/scopes/scopes-file.ts',
  'src/webhooks/commands/{command,freeze-words}.ts',
  'src/events/{actor,audit-event,describe-event,describe-fields,event-words,notice-type}.ts',
  'src/freezes/exemptions/exemption.ts',
  'src/freezes/{freeze,freeze-warnings,freeze-window,frozen-state,judge-freeze}.ts',
  'src/plans/{changed-occurrences,occurrences,plan,repetition,rule}.ts',
  'src/plans/source/{calendar-objects,content-lines,event-rule,series,source-events,source-window,wall-clock,zones}.ts',
  'src/time/**',
  'src/statuses/{judge,plan-write,status}.ts',
  'src/github/app-manifest.ts',
  'src/pages/help/{address,render-document,search-documents}.ts',
  'src/github/facts/**',
  'src/github/{markdown,merge-group-ref}.ts',
  'src/deployments/deployment.ts',
  'src/installations/page-paths.ts',
  'src/github/pull-requests/pull-request.ts',
  'src/auth/oidc/oidc-rule.ts',
  'src/auth/sign-in/attempt.ts',
  'src/pages/calendar/calendar-window.ts',
  'src/database/queue/jobs.ts',
  'src/notices/{message,notice-words,render,tell}.ts',
  'src/freezes/unknown-names.ts',
  'src/webhooks/comments/commands-in-events.ts',
  'src/webhooks/handled-events.ts',
  'src/webhooks/owner-events.ts',
  'src/webhooks/rules-and-deployments.ts',
];

/** What the package of the command line holds beside src/cli. Everything else stays with the service. */
const shipped = [
  'src/address-here.ts',
  'src/cli/**',
  'src/conditions/**',
  'src/cut-text.ts',
  'src/dot-env.ts',
  'src/events/{actor,audit-event,describe-event,describe-fields,event-words}.ts',
  // Only types.
  'src/generated/v1.d.ts',
  'src/github/facts/without-comments.ts',
  'src/plans/plan-name.ts',
  'src/time/**',
];

const here = import.meta.dirname;
const below = (file) => relative(here, file).replaceAll('\\', '/');

/** A rule about relative imports: `check` gives what is wrong with one, as paths below the root, or nothing. */
const importRule = (check) => ({
  create: (context) => ({
    ImportDeclaration(node) {
      if (!node.source.value.startsWith('.')) return;
      const target = below(resolve(dirname(context.filename), node.source.value));
      const message = check(below(context.filename), target, node.importKind === 'type');
      if (message) context.report({ node, message });
    },
  }),
});
const borders = {
  rules: {
    pure: importRule((file, target, isType) => {
      const isPure = isType || pure.some((glob) => matchesGlob(target, glob));
      return isPure
        ? null
        : `Pure code imports pure code: ${target} is not in \`pure\` of eslint.config.mjs.`;
    }),
    shipped: importRule((_, target) =>
      shipped.some((glob) => matchesGlob(target, glob))
        ? null
        : `The command line is installed without the service: ${target} is not in \`shipped\` of eslint.config.mjs.`,
    ),
    floors: importRule((file, target, isType) => {
      if (isType && file === namesTypesOfAll) return null;
      const [own, other] = [file, target].map((path) => floors.indexOf(path.split('/')[1]));
      if (own === -1) return `Give ${file.split('/')[1]} its place among the floors of eslint.config.mjs.`;
      return own <= other || !target.startsWith('src/') || target.startsWith('src/generated/')
        ? null
        : `${floors[own]} stands below ${target.split('/')[1]}: it must not import from there.`;
    }),
  },
};

export default tseslint.config(
  {
    ignores: [
      ...['node_modules', 'src/generated', 'packages/*/dist', 'coverage', 'data'],
      'actions/push-scopes/push-scopes.mjs',
      'actions/gate/gate.mjs',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.strict,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: ['*.mjs', 'bin/*.mjs', 'src/pages/assets/*.js'],
          // Eight by default.
          maximumDefaultProjectFileMatchCount_THIS_WILL_SLOW_DOWN_LINTING: 16,
        },
      },
    },
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['error', { max: 260, skipComments: true, skipBlankLines: true }],
      eqeqeq: 'error',
    },
  },
  {
    files: ['src/pages/assets/*.js'],
    languageOptions: {
      globals: {
        document: 'readonly',
        location: 'readonly',
        navigator: 'readonly',
        sessionStorage: 'readonly',
        addEventListener: 'readonly',
        DOMParser: 'readonly',
        EventSource: 'readonly',
        clearTimeout: 'readonly',
        performance: 'readonly',
        FormData: 'readonly',
        URL: 'readonly',
        URLSearchParams: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
        AbortController: 'readonly',
        CSS: 'readonly',
        history: 'readonly',
      },
    },
  },
  {
    files: ['test/**', 'sandbox/**', 'demo/**'],
    rules: { 'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }] },
  },
  {
    files: ['src/**'],
    ignores: ['src/config.ts', 'src/cli/world.ts'],
    rules: { 'no-restricted-syntax': ['error', process, ...wallClock] },
  },
  { files: ['src/cli/world.ts'], rules: { 'no-restricted-syntax': ['error', ...wallClock] } },
  { files: ['src/time/clock.ts'], rules: { 'no-restricted-syntax': ['error', process] } },
  {
    files: pure,
    plugins: { borders },
    rules: { 'no-restricted-imports': ['error', { patterns: io }], 'borders/pure': 'error' },
  },
  { files: ['src/**'], plugins: { borders }, rules: { 'borders/floors': 'error' } },
  { files: ['src/cli/**'], plugins: { borders }, rules: { 'borders/shipped': 'error' } },
  {
    files: ['sandbox/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['**/src/**'], message: 'The sandbox is GitHub: it knows nothing of us.' }] },
      ],
    },
  },
);
