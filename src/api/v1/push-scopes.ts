import { z } from '@hono/zod-openapi';
import { longestScope, mostScopes } from '../../conditions/scope-limits.ts';
import { greatestNumber } from '../../github/pull-requests/pull-request.ts';
import type { Actor } from '../../events/actor.ts';
import { nowOf } from '../../time/clock.ts';
import type { SqlTx } from '../../database/sql.ts';
import type { Deps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { isGitHubStatus } from '../../github/github-error.ts';
import { jobs } from '../../database/queue/jobs.ts';
import {
  assertWritable,
  type FoundRepository,
  fullName,
  type RepositoryRead,
} from '../../installations/find-repository.ts';
import { isReadBy } from '../../freezes/freeze-store.ts';
import { endpoint } from '../endpoint.ts';
import { pullRequestNumber, owner, repository, textSchema } from '../fields.ts';

const scopesBody = z
  .object({
    scopes: z
      .array(textSchema(longestScope, 'A scope').min(1, 'A scope has at least 1 character.'))
      .refine((scopes) => new Set(scopes).size <= mostScopes, `Send at most ${mostScopes} different scopes.`)
      .openapi({
        description: `Replaces all scopes. Send at most ${mostScopes} different scopes. Duplicates count once.`,
      }),
    all_scopes: z.boolean().optional().openapi({
      description: 'Whether the pull request touches everything, so that every `scope` condition matches it.',
    }),
  })
  .openapi('PullRequestScopes');

const params = z.object({ owner, repository, number: pullRequestNumber });

type ScopesPath = z.output<typeof params>;
type Body = z.output<typeof scopesBody>;

const pushedBy = ({ number }: ScopesPath, { scopes, all_scopes: allScopes = false }: Body): PushedScopes => ({
  number,
  scopes: [...new Set(scopes)],
  allScopes,
});

const shared = {
  path: '/repos/{owner}/{repository}/pulls/{number}/scopes',
  tag: 'Pull requests',
  access: { to: 'repository', scope: 'ci', job: 'push_scopes' },
  params,
  body: { schema: scopesBody, example: { scopes: ['backend', 'docs'], all_scopes: false } },
  success: { status: 204, description: 'Stored' },
  reads: ({ path, body }: { path: ScopesPath; body: Body }) => beforePush(pushedBy(path, body)),
} as const;

export const putScopes = endpoint({
  ...shared,
  method: 'put',
  summary: 'Set the scopes of a pull request',
  async handle({ deps, actor, repository, path, body, read }) {
    await pushScopes(deps, actor, repository, pushedBy(path, body), await read());
  },
});

export const postScopes = endpoint({
  ...shared,
  method: 'post',
  summary: 'Set the scopes of a pull request (use PUT)',
  deprecated: {
    successor: ({ owner, repository, number }: ScopesPath) =>
      `/v1/repos/${owner}/${repository}/pulls/${number}/scopes`,
  },
  async handle({ deps, actor, repository, path, body, read, remember }) {
    await pushScopes(deps, actor, repository, pushedBy(path, body), await read(), remember);
  },
});

/**
 * Replaces the scopes of a pull request. The same push again changes nothing.
 * @param before the result of `beforePush`.
 * @param beforeSaving runs first in the transaction that saves. Without it, most pushes need no transaction.
 * @throws Refusal not-found if GitHub says that there is no such pull request; conflict if the repository cannot be
 *   written to. If GitHub cannot say, this saves the scopes.
 */
async function pushScopes(
  deps: Deps,
  by: Actor,
  repository: FoundRepository,
  pushed: PushedScopes,
  { isOpen, isSame }: Before,
  beforeSaving?: (tx: SqlTx) => Promise<void>,
): Promise<void> {
  assertWritable(repository);
  const { number } = pushed;
  if (!isOpen && !(await mayExist(deps, repository, number))) {
    throw notFound(`${fullName(repository)} has no pull request ${number}.`);
  }
  const push = { ...pushed, repositoryId: repository.id, by, at: nowOf(deps.clock) };
  if (!beforeSaving && (isSame || (await saveWhereUnread(deps.sql, push)))) return;
  await deps.sql.transaction(async (tx) => {
    await beforeSaving?.(tx);
    if (await saveAndSee(tx, push)) await haveJudged(deps, tx, repository, push);
  });
}

/** Sends the jobs that judge the pull request by its new scopes. */
async function haveJudged(deps: Deps, tx: SqlTx, { installation }: FoundRepository, push: Push) {
  if (push.number > greatestNumber) return;
  const told = { number: Number(push.number), installationId: String(installation.id) };
  await deps.queue.send([jobs.reconcilePullRequest(push.repositoryId, told)], tx);
}

/** False only if GitHub clearly says no. */
async function mayExist(deps: Deps, repository: FoundRepository, number: bigint): Promise<boolean> {
  try {
    const client = await deps.github.asInstallation(repository.installation.id);
    await client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
      owner: repository.account.login,
      repo: repository.name,
      // A string: as a number it would lose its last digits.
      pull_number: String(number) as unknown as number,
    });
    return true;
  } catch (error) {
    if (isGitHubStatus(error, 404)) return false;
    deps.log.warn(
      { err: error, number: String(number) },
      'GitHub could not confirm a pull request; scopes kept',
    );
    return true;
  }
}

// Saves pushed scopes. Most pushes repeat the last one, and most come while no freeze reads scopes.

/** The pushed scopes of a pull request, without duplicates. Its number is exact, also beyond an int8. */
type PushedScopes = { number: bigint; scopes: string[]; allScopes: boolean };

type Push = PushedScopes & { repositoryId: bigint; by: Actor; at: Date };

/** Whether a pull request is known to be open, and whether the same scopes were pushed before. */
type Before = { isOpen: boolean; isSame: boolean };

const before = `SELECT json_build_object(
  'isOpen', EXISTS (SELECT FROM open_pull_requests WHERE repository_id = named.repository_id AND number = $1::int),
  'isSame', EXISTS (SELECT FROM pull_request_scopes WHERE repository_id = named.repository_id AND number = $2::numeric
    AND scopes = $3::text[] AND all_scopes = $4::boolean))`;

/** To read: what is known about a pull request before a push. */
const beforePush = ({ number, scopes, allScopes }: PushedScopes): RepositoryRead<Before> => ({
  name: 'scopes-before',
  sql: before,
  values: [number <= greatestNumber ? Number(number) : null, String(number), scopes, allScopes],
  valueOf: (json) => json as Before,
});

const scopesColumns = 'repository_id, number, scopes, all_scopes, pushed_at, pushed_by';
const pushed = '$1::int8, $2::numeric, $3::text[], $4::boolean, $5::timestamptz, $6::jsonb';
const replacing = `ON CONFLICT (repository_id, number) DO UPDATE SET scopes = excluded.scopes,
  all_scopes = excluded.all_scopes, pushed_at = excluded.pushed_at, pushed_by = excluded.pushed_by`;

const valuesOf = ({ repositoryId, number, scopes, allScopes, at, by }: Push): unknown[] => [
  repositoryId,
  String(number),
  scopes,
  allScopes,
  at,
  JSON.stringify(by),
];

// A statement sees what was committed when it began, and a locked row as it is when it has the lock. A commit of a
// freeze in between changes the repository's row, so the two differ in `xmin`. Then the statement saves nothing, and
// the push uses the transaction, whose second statement sees the freeze.
const saveUnread = `
  WITH place AS MATERIALIZED (SELECT id, xmin AS version FROM repositories WHERE id = $1 FOR SHARE)
  INSERT INTO pull_request_scopes AS known (${scopesColumns})
  SELECT ${pushed} FROM place
  WHERE place.version = (SELECT xmin FROM repositories WHERE id = $1) AND NOT ${isReadBy('scopes', '$1', '$5')}
  ${replacing}
  RETURNING true`;

/** Saves a push with one statement, unless a current freeze reads scopes. @returns whether it was saved. */
async function saveWhereUnread(sql: SqlTx, push: Push): Promise<boolean> {
  return (await sql.query('save-scopes-unread', saveUnread, valuesOf(push))).length > 0;
}

const saveScopes = `
  WITH saved AS (
    INSERT INTO pull_request_scopes AS known (${scopesColumns}) VALUES (${pushed}) ${replacing}
    WHERE (known.scopes, known.all_scopes) IS DISTINCT FROM (excluded.scopes, excluded.all_scopes)
    RETURNING true)
  SELECT ${isReadBy('scopes', '$1', '$5')} AS "isRead" FROM saved`;

/**
 * Saves a push in a transaction. If somebody creates a freeze at the same time, either its look sees these scopes, or
 * this sees the freeze.
 * @returns whether it changed what a current freeze reads.
 */
async function saveAndSee(tx: SqlTx, push: Push): Promise<boolean> {
  await tx.query('share-repository', 'SELECT FROM repositories WHERE id = $1 FOR SHARE', [push.repositoryId]);
  const [row] = await tx.query<{ isRead: boolean }>('save-scopes', saveScopes, valuesOf(push));
  return row?.isRead ?? false;
}
