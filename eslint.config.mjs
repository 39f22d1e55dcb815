// Layer boundaries are lint rules: a pure folder that reaches for the database, GitHub or HTTP fails `npm run lint`.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const io = [
  {
    group: ['**/generated/**', '@prisma/*', 'pg', 'pg-boss', '@electric-sql/*'],
    message: 'Pure code takes values, not a database.',
  },
  { group: ['probot', '@octokit/*'], message: 'Pure code takes facts, not GitHub.' },
  { group: ['hono', 'hono/*', '@hono/*'], message: 'Pure code knows nothing of HTTP.' },
];
const process = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only src/config.ts reads the environment.',
};
const wallClock = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Ask the injected clock (src/clock.ts).',
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Ask the injected clock (src/clock.ts).',
  },
  {
    selector: "MemberExpression[object.name='Temporal'][property.name='Now']",
    message: 'Ask the injected clock (src/clock.ts).',
  },
];

export default tseslint.config(
  { ignores: ['node_modules', 'src/generated', 'coverage', 'data'] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.mjs', 'bin/*.mjs', 'src/pages/assets/*.js'] },
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
    languageOptions: { globals: { document: 'readonly' } },
  },
  {
    files: ['test/**', 'sandbox/**', 'demo/**'],
    rules: { 'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }] },
  },
  {
    files: ['src/**'],
    ignores: ['src/config.ts'],
    rules: { 'no-restricted-syntax': ['error', process, ...wallClock] },
  },
  { files: ['src/clock.ts'], rules: { 'no-restricted-syntax': ['error', process] } },
  {
    files: [
      'src/conditions/**',
      'src/enforcement/{branch-facts,finding,remedies,touched-branches}.ts',
      'src/enforcement/judge-*.ts',
      'src/explanations/releasing-labels.ts',
      'src/freezes/freeze.ts',
      'src/freezes/freeze-warnings.ts',
      'src/freezes/judge-freeze.ts',
      'src/freezes/parsed-freeze.ts',
      'src/time/**',
      'src/reconcile/judge.ts',
      'src/outbox/{status,urgency}.ts',
      'src/github/facts/**',
      'src/github/pull-requests/pull-request.ts',
      'src/auth/sign-in/attempt.ts',
      'src/auth/sign-in/own-path.ts',
      'src/pages/timeline/**',
      'src/webhooks/wakes-of-event.ts',
    ],
    rules: { 'no-restricted-imports': ['error', { patterns: io }] },
  },
);
