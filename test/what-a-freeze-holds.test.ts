import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

// One repository with a pull request for every kind of condition, and a freeze that takes each row's lists in turn.

const acme = acmeForAll();
let freeze: string;
const web = 'acme/web';
const manyFiles = Array.from({ length: 250 }, (_, index) => `src/generated/file-${index}.ts`);

beforeAll(async () => {
  acme.github.addBot('dependabot');
  await acme.repository('web', [
    { title: 'Fix the login', labels: ['risky'], head: 'fix/login', files: ['src/login.ts'] },
    { title: 'WIP: a new page', draft: true, head: 'feat/page', files: ['docs/page.md', 'src/page.ts'] },
    { author: 'bob', base: 'release', labels: ['Docs', 'hotfix'], head: 'docs', files: ['docs/guide.md'] },
    { author: 'dependabot[bot]', title: 'Bump x to 2', head: 'dependabot/npm/x-2', files: ['package.json'] },
    {
      author: 'bob',
      title: 'Move the old code',
      files: [{ path: 'lib/new.ts', previousPath: 'old/gone.ts' }],
    },
    { author: 'bob', title: 'Generate', files: [...manyFiles, 'zzz/last.sql'], fork: true, head: 'main' },
  ]);
  const ci = await acme.key('acme', 'ci');
  const push = (number: number, body: object) =>
    acme.call('PUT', `/v1/repos/${web}/pulls/${number}/scopes`, { as: ci, body });
  expect((await push(1, { scopes: ['backend'] })).status).toBe(204);
  expect((await push(2, { scopes: ['frontend', 'docs'] })).status).toBe(204);
  expect((await push(3, { scopes: [], all_scopes: true })).status).toBe(204);
  freeze = (await acme.freeze(web)).id;
});

type Row = { matching?: unknown[]; exclude?: unknown[]; holds: number[] };

const rows: Row[] = [
  { matching: [], holds: [1, 2, 3, 4, 5, 6] },
  { matching: ['label=risky'], holds: [1] },
  { matching: ['label~=^(risky|hotfix)$'], holds: [1, 3] },
  { matching: ['draft'], holds: [2] },
  { matching: ['title~=(?i)^wip'], holds: [2] },
  { matching: ['author=dependabot[bot]'], holds: [4] },
  { matching: ['-author=bob', 'author!=dependabot[bot]'], holds: [1, 2] },
  { matching: ['base=release'], holds: [3] },
  { matching: ['head~=^dependabot/'], holds: [4] },
  { matching: ['files~=^docs/'], holds: [2, 3] },
  { matching: ['files~=^old/'], holds: [5] },
  { matching: ['files=zzz/last.sql'], holds: [6] },
  { matching: ['scope~=^front'], holds: [2, 3] },
  { matching: ['scope!=backend'], holds: [2, 3, 4, 5, 6] },
  { matching: [{ and: ['author=bob', { not: 'base=release' }] }], holds: [5, 6] },
  {
    matching: [{ or: ['draft', { and: ['label=risky', { not: { or: ['base=release'] } }] }] }],
    holds: [1, 2],
  },
  {
    matching: [{ not: { and: ['author=bob', { or: ['base=release', 'title=Generate'] }] } }],
    holds: [1, 2, 4, 5],
  },
  { exclude: ['author=bob', 'base=release'], holds: [1, 2, 4, 5, 6] },
  { exclude: [{ or: ['author=bob', 'draft'] }], holds: [1, 4] },
  { exclude: ['scope=docs'], holds: [1, 4, 5, 6] },
  { matching: ['author=bob'], exclude: ['files~=^docs/'], holds: [5, 6] },
  { matching: ['base=main'], exclude: ['-label~=.'], holds: [1] },
];

test.each(
  rows.map((row) => ({ ...row, conditions: JSON.stringify([row.matching ?? [], row.exclude ?? []]) })),
)('$conditions holds $holds', async ({ matching = [], exclude = [], holds }) => {
  await acme.update(web, freeze, { matching_conditions: matching, exclude_conditions: exclude });
  expect(acme.frozen(web)).toEqual(holds);
});
