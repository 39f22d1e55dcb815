import type { MergeQueueOptions } from '../../sandbox/actions/merge-queue-verbs.ts';
import type { Acme } from './acme.ts';

/** CI passes on a commit. */
export const passCiOn = (acme: Acme, repository: string, sha: string) =>
  acme.github.postStatus(repository, sha, { by: 'bob', state: 'success', context: 'ci' });

/** A repository whose queue also waits for CI, which passes on pull requests and not yet on their groups. */
export async function queuedIn(
  acme: Acme,
  name: string,
  pullRequests: object[],
  options: MergeQueueOptions = {},
  branch = 'main',
): Promise<string> {
  const required = ['holdfast/freeze', 'ci'];
  const repository = await acme.repository(
    name,
    pullRequests.map((each) => ({ base: branch, ...each })),
    { protect: { [branch]: required } },
  );
  acme.github.enableMergeQueue(repository, branch, options);
  for (const { number, headSha } of acme.github.pullRequests(repository)) {
    passCiOn(acme, repository, headSha);
    acme.github.enqueue(repository, number);
  }
  await acme.quiet();
  return repository;
}
