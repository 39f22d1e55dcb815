import type { AttributeValues } from '../../conditions/attributes.ts';
import { type Fact, known, notKnown } from '../pull-requests/pull-request.ts';
import { type AttributeGroup, field, map, type Page, page, type Subject } from './attribute-group.ts';

/** A changed file, in REST's words. A renamed file has its new path. */
export type ChangedFile = { path: string; status: string; previousPath?: string };

const configurations = ['.mergify.yml', '.mergify/config.yml', '.github/mergify.yml'];

/** Paths by kind of change. A rename removes the old path and adds the new one. A copy does not change its source. */
export function readFiles(changed: ChangedFile[]): AttributeValues {
  const oldPaths = changed.flatMap(({ status, previousPath }) =>
    status === 'renamed' && previousPath ? [previousPath] : [],
  );
  const paths = (...statuses: string[]) =>
    changed.filter(({ status }) => statuses.includes(status)).map(({ path }) => path);
  const files = [...changed.map(({ path }) => path), ...oldPaths];
  return {
    files,
    'added-files': paths('added', 'copied', 'renamed'),
    'removed-files': [...paths('removed'), ...oldPaths],
    'modified-files': paths('modified', 'changed'),
    'mergify-configuration-changed': files.some((path) => configurations.includes(path)),
  };
}

type FileAnswer = { path: string; changeType: string };

/** GraphQL's DELETED is REST's removed. The other words are the same. */
const statusOf = (changeType: string): string =>
  changeType === 'DELETED' ? 'removed' : changeType.toLowerCase();

const files = field<Page<FileAnswer>>('files', 'files', `files(first: 100) ${page('path changeType')}`);

/** The most files of a pull request that GitHub lists. */
const mostFiles = 3000;
const tooMany = notKnown(`GitHub lists only ${mostFiles} of its files`);

/**
 * The changed files, to the last one. This reads REST's list if there are over 100 files, if there is a rename (GraphQL
 * does not have the old path), or if GraphQL failed.
 */
async function readChangedFiles(subject: Subject): Promise<Fact<ChangedFile[]>> {
  const { number, changedFiles } = subject.answer;
  const given = await subject.value(files);
  const first = given.known ? given.value : null;
  const isWhole = first?.nodes?.every((file) => file && file.changeType !== 'RENAMED');
  if (isWhole && !first!.pageInfo.hasNextPage)
    return known(first!.nodes!.map((file) => ({ path: file!.path, status: statusOf(file!.changeType) })));
  if (changedFiles >= mostFiles) return tooMany;
  const question = { what: 'files', logged: 'the files of a pull request could not be read' };
  return subject.request(question, async (client, repository) => {
    const which = { ...repository, pull_number: number, per_page: 100 };
    const listed = await client.paginate(client.rest.pulls.listFiles, which);
    if (listed.length >= mostFiles) return tooMany;
    return known(
      listed.map(({ filename, status, previous_filename }) => ({
        path: filename,
        status,
        previousPath: previous_filename,
      })),
    );
  });
}

export const ofFiles: AttributeGroup = {
  needs: ['files'],
  attributes: ['files', 'added-files', 'modified-files', 'removed-files', 'mergify-configuration-changed'],
  fields: [files],
  read: async (subject) => map(await readChangedFiles(subject), readFiles),
};
