// Borders are lint rules: an import that goes up the rooms of src/, past their doors, or out of pure code, fails `npm run lint`.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import { rules } from './lint/borders.ts';
import { pure } from './lint/pure.ts';

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

const borders = { rules };

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
          maximumDefaultProjectFileMatchCount_THIS_WILL_SLOW_DOWN_LINTING: 20,
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
    files: ['test/**', 'sandbox/**', 'demo/**', 'lint/**'],
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
  {
    files: ['src/**'],
    plugins: { borders },
    rules: { 'borders/floors': 'error', 'borders/doors': 'error', 'borders/circles': 'error' },
  },
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
