import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { GitHubDeps } from '../github/github-deps.ts';

/**
 * GitHub told that rules of branches or environments may have changed, in a repository or in all of an owner. In every
 * process, what GitHub said before about what it enforces no longer counts.
 */
export const noteRulesTask = defineTask(
  jobs.noteRules,
  async ({ db }: GitHubDeps, { repositoryId, accountId }) => {
    const where = repositoryId === null ? { accountId: BigInt(accountId!) } : { id: BigInt(repositoryId) };
    await db.repository.updateMany({ where, data: { rulesVersion: { increment: 1 } } });
  },
);
