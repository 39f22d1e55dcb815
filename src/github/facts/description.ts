// The description, and the pull requests that it depends on.
import { type Fact, known, unknownFact, greatestNumber } from '../pull-requests/pull-request.ts';
import { type AttributeGroup, field, map, type AskedSubject } from './attribute-group.ts';
import { withoutComments } from './without-comments.ts';

const bodyField = field<string>('body', 'description', 'body');

/** The description as it was written; '' if there is none. */
const readBody = async ({ value }: AskedSubject): Promise<Fact<string>> =>
  map(await value(bodyField), (text) => text ?? '');

export const ofBody: AttributeGroup = {
  needs: ['body'],
  attributes: ['body', 'body-raw'],
  fields: [bodyField],
  read: async (subject) =>
    map(await readBody(subject), (text) => ({ body: withoutComments(text), 'body-raw': text })),
};

/** A pull request that another pull request names. */
type PullRequestName = { owner: string; name: string; number: number };

/** An owner and a repository, in a link or before `#`. */
const fullName = String.raw`([\w-]+)\/([\w.-]+)`;
const line = new RegExp(
  String.raw`^[ \t]*Depends-On:[ \t]*(?:(?:${fullName})?#(\d{1,10})|https?:\/\/([^\s/]+)\/${fullName}\/pull\/(\d{1,10})\/?)[ \t]*$`,
  'i',
);

/**
 * The pull requests that a description names in lines `Depends-On: #12`, `Depends-On: owner/repo#12` or
 * `Depends-On: https://host/owner/repo/pull/12`, each once.
 * @param own the pull request with this description.
 */
export function dependsOn(
  body: string,
  own: { owner: string; name: string; host: string },
): PullRequestName[] {
  const named = new Map<string, PullRequestName>();
  for (const text of withoutComments(body).split(/\r?\n/)) {
    const [, owner, name, number, host, linkedOwner, linkedName, linkedNumber] = line.exec(text) ?? [];
    if (host !== undefined && host.toLowerCase() !== own.host.toLowerCase()) continue;
    const found = {
      owner: owner ?? linkedOwner ?? own.owner,
      name: name ?? linkedName ?? own.name,
      number: Number(number ?? linkedNumber),
    };
    if (!Number.isNaN(found.number)) named.set(groupKeyOf(found), found);
  }
  return [...named.values()];
}

/** GitHub ignores case in names. */
export const groupKeyOf = ({ owner, name, number }: PullRequestName): string =>
  `${owner}/${name}#${number}`.toLowerCase();

/** The limit. With more, one pull request could cost as many requests as all others. */
const mostDependencies = 50;

/** The merged ones, as `owner/repo#n`, of the pull requests that a description depends on. */
async function readDependencies(subject: AskedSubject): Promise<Fact<string[]>> {
  const text = await readBody(subject);
  if (!text.known) return text;
  const { url, repository } = subject.answer;
  const [owner, name] = repository.nameWithOwner.split('/') as [string, string];
  const named = dependsOn(text.value, { owner, name, host: new URL(url).host });
  if (named.length > mostDependencies)
    return unknownFact(`it depends on more than ${mostDependencies} pull requests`);
  const merged: string[] = [];
  for (const each of named) {
    const fact = await subject.shared(`merged ${groupKeyOf(each)}`, () => readMerged(subject, each));
    if (!fact.known) return fact;
    if (fact.value !== null) merged.push(fact.value);
  }
  return known([...new Set(merged)]);
}

export const mergedQuery = /* GraphQL */ `
  query Merged($owner: String!, $name: String!, $number: Int!) {
    repository(owner: $owner, name: $name) {
      nameWithOwner
      pullRequest(number: $number) {
        merged
      }
    }
  }
`;
type MergedAnswer = {
  repository: { nameWithOwner: string; pullRequest: { merged: boolean } | null } | null;
};

/** Its name, as GitHub spells it, if it is merged; null if it is not merged or does not exist. */
async function readMerged({ query }: AskedSubject, named: PullRequestName): Promise<Fact<string | null>> {
  if (named.number > greatestNumber) return known(null);
  // GitHub says nothing about pull requests in a repository that we cannot see.
  const answer = await query<MergedAnswer>(
    'dependencies',
    mergedQuery,
    named,
    ({ type, path }) => type === 'NOT_FOUND' && path.length > 1,
  );
  return map(answer, ({ repository }) =>
    repository?.pullRequest?.merged ? `${repository.nameWithOwner}#${named.number}` : null,
  );
}

export const ofDependencies: AttributeGroup = {
  needs: ['dependencies'],
  attributes: ['depends-on'],
  fields: [bodyField],
  read: async (subject) => map(await readDependencies(subject), (merged) => ({ 'depends-on': merged })),
};
