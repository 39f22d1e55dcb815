import { classifyGitHubError } from '../github/github-error.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { Fact } from './pull-request.ts';

/** GitHub lists no more files of a pull request than this. */
const mostFiles = 3000;

/** The changed files of a pull request, to the last page; a rename stands at both of its paths. */
export async function readChangedFiles(from: LoadFrom, number: number): Promise<Fact<string[]>> {
  const { client, repository, deps } = from;
  try {
    const files = await client.paginate(client.rest.pulls.listFiles, {
      owner: repository.account.login,
      repo: repository.name,
      pull_number: number,
      per_page: 100,
    });
    if (files.length >= mostFiles)
      return { known: false, reason: `GitHub lists only ${mostFiles} of its files` };
    const paths = files.flatMap((file) =>
      file.previous_filename ? [file.filename, file.previous_filename] : [file.filename],
    );
    return { known: true, value: paths };
  } catch (error) {
    // A rate limit or an outage stops the whole refresh: this is not about one pull request.
    const { kind } = classifyGitHubError(error, 0);
    if (kind === 'limited' || kind === 'down') throw error;
    deps.log.warn({ err: error, number }, 'the files of a pull request could not be read');
    return { known: false, reason: 'GitHub did not give its files' };
  }
}
