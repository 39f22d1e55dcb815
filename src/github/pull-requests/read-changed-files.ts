import type { ReadPullRequest } from './ask-for-pull-requests.ts';
import { type Fact, known, notKnown } from './fact.ts';
import type { ChangedFile } from '../facts/read-files.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import { whyNotRead } from './why-not-read.ts';

/** The most files of a pull request that GitHub lists. */
const mostFiles = 3000;

/**
 * The changed files of a pull request, to the last one. This reads REST's list if there are over 100 files, if there is
 * a rename (GraphQL does not have the old path), or if GraphQL failed.
 * @throws rate limits and outages.
 */
export async function readChangedFiles(
  from: Pick<LoadFrom, 'client' | 'repository' | 'deps'>,
  { answer: { files, number, changedFiles } }: ReadPullRequest,
): Promise<Fact<ChangedFile[]>> {
  const nodes = files?.nodes;
  const isWhole =
    nodes && !files.pageInfo.hasNextPage && nodes.every((file) => file && file.changeType !== 'RENAMED');
  if (isWhole) return known(nodes.map((file) => ({ path: file!.path, status: statusOf(file!.changeType) })));
  return changedFiles >= mostFiles ? tooMany : readList(from, number);
}

const tooMany = notKnown(`GitHub lists only ${mostFiles} of its files`);

async function readList(
  { client, repository, deps }: Pick<LoadFrom, 'client' | 'repository' | 'deps'>,
  number: number,
): Promise<Fact<ChangedFile[]>> {
  try {
    const files = await client.paginate(client.rest.pulls.listFiles, {
      owner: repository.account.login,
      repo: repository.name,
      pull_number: number,
      per_page: 100,
    });
    if (files.length >= mostFiles) return tooMany;
    return known(
      files.map(({ filename, status, previous_filename }) => ({
        path: filename,
        status,
        previousPath: previous_filename,
      })),
    );
  } catch (error) {
    const reason = whyNotRead(error, 'files');
    deps.log.warn({ err: error, number }, 'the files of a pull request could not be read');
    return notKnown(reason);
  }
}

/** GraphQL's DELETED is REST's removed. The other words are the same. */
const statusOf = (changeType: string): string =>
  changeType === 'DELETED' ? 'removed' : changeType.toLowerCase();
