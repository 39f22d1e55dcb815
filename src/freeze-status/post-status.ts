import type { Deps } from '../deps.ts';
import type { StatusState } from './decide-status.ts';

type Write = {
  sha: string;
  state: string;
  description: string;
  attempts: number;
  /** GitHub's id of the last status that we know of there: an answer that is older is none. */
  writtenId: bigint | null;
};

/** The write, and the page that it leads to, if any. A page alone is no reason to write. */
type Post = Write & { targetUrl: string | null };

/** A status as GitHub keeps it: its id and time are GitHub's. */
export type Posted = { id: bigint; at: Date };

/**
 * Writes one commit status to the base repository, where it counts also for pull requests from forks. A second
 * attempt first looks whether the earlier one arrived after all, so that nothing is written twice.
 * @param mayWrite asked between that look and the write.
 * @returns null where it may not.
 * @throws what GitHub answers.
 */
export async function postStatus(
  deps: Pick<Deps, 'github' | 'config'>,
  installationId: bigint,
  repository: { owner: string; repo: string },
  { sha, state, description, attempts, writtenId, targetUrl }: Post,
  mayWrite: () => Promise<boolean>,
): Promise<Posted | null> {
  const client = await deps.github.asInstallation(installationId);
  const context = deps.config.statusContext;
  if (attempts > 0) {
    const { data } = await client.rest.repos.getCombinedStatusForRef({
      ...repository,
      ref: sha,
      per_page: 100,
    });
    const present = data.statuses.find((status) => status.context.toLowerCase() === context.toLowerCase());
    const isNewest = present && (writtenId === null || BigInt(present.id) >= writtenId);
    if (isNewest && present.state === state && present.description === description) return postedOf(present);
    if (!(await mayWrite())) return null;
  }
  const { data } = await client.rest.repos.createCommitStatus({
    ...repository,
    sha,
    state: state as StatusState,
    description,
    context,
    ...(targetUrl && { target_url: targetUrl }),
  });
  return postedOf(data);
}

const postedOf = (answer: { id: number; created_at: string }): Posted => ({
  id: BigInt(answer.id),
  at: new Date(answer.created_at),
});
