import type { AttributeValues } from '../../conditions/attributes.ts';
import { type Fact, known, unknownFact } from '../pull-requests/pull-request.ts';
import {
  type AttributeGroup,
  base,
  field,
  map,
  type FactsPage,
  pageField,
  type AskedSubject,
} from './attribute-group.ts';

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

const files = field<FactsPage<FileAnswer>>(
  'files',
  'files',
  `files(first: 100) ${pageField('path changeType')}`,
);

/** The most files of a pull request that GitHub lists. */
const mostFiles = 3000;
const tooMany = unknownFact(`GitHub lists only ${mostFiles} of its files`);

/** The most that one request lists. */
const filesPerPage = 100;
/** Milliseconds, less than between two checks of a repository: one of these mends what GitHub answered too early. */
const keptFor = 50 * 60_000;

const notAll = unknownFact('not all of its files were read');

/**
 * The changed files, to the last one, or until those that are known decide. This reads REST's list if there are over 100
 * files, if there is a rename (GraphQL does not have the old path), or if GraphQL failed.
 */
async function readChangedFiles(subject: AskedSubject): Promise<Fact<ChangedFile[]>> {
  const { number, changedFiles } = subject.answer;
  const given = await subject.value(files);
  const page = given.known ? given.value : null;
  const first = (page?.nodes ?? []).flatMap((file): ChangedFile[] =>
    file ? [{ path: file.path, status: statusOf(file.changeType) }] : [],
  );
  const isWhole = page?.nodes?.every((file) => file && file.changeType !== 'RENAMED');
  if (isWhole && !page!.pageInfo.hasNextPage) return known(first);
  if (await subject.sees(readSome(first))) return notAll;
  if (changedFiles >= mostFiles) return tooMany;
  const shas = await subject.shas();
  const question = {
    what: 'files',
    logged: 'the files of a pull request could not be read',
    // With GitHub's own count: it may list the files of a new head a little later.
    key: shas && `${number} ${shas} ${changedFiles}`,
    life: keptFor,
    requests: Math.ceil(changedFiles / filesPerPage),
  };
  return subject.request(question, async (client, repository) => {
    const listed: ChangedFile[] = [];
    for (let page = 1; ; page++) {
      const which = { ...repository, pull_number: number, per_page: filesPerPage, page };
      const { data, headers } = await client.rest.pulls.listFiles(which);
      for (const { filename, status, previous_filename } of data)
        listed.push({ path: filename, status, previousPath: previous_filename });
      if (listed.length >= mostFiles) return tooMany;
      if (!/rel="next"/.test(headers.link ?? '')) return known(listed);
      if (await subject.sees(readSome(listed))) return notAll;
    }
  });
}

/** What some of the changed files already say. Whether none of them is a configuration, they do not. */
function readSome(changed: ChangedFile[]): AttributeValues {
  const { 'mergify-configuration-changed': isChanged, ...lists } = readFiles(changed);
  return isChanged ? { ...lists, 'mergify-configuration-changed': true } : lists;
}

export const ofFiles: AttributeGroup = {
  needs: ['files'],
  attributes: ['files', 'added-files', 'modified-files', 'removed-files', 'mergify-configuration-changed'],
  fields: [files, base],
  read: async (subject) => map(await readChangedFiles(subject), readFiles),
};
