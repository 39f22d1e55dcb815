import type { GitActor, Repository } from '../state/model.ts';

/** What git says of a commit: message, people, signature, parents. */
export function gitNode(repository: Repository, sha: string) {
  const commit = repository.commitDetails.get(sha);
  if (!commit) return {};
  return {
    message: commit.message,
    author: actorNode(commit.author),
    committer: actorNode(commit.committer),
    signature: commit.isVerified ? { __typename: 'GpgSignature', isValid: true } : null,
    parents: () => ({ __typename: 'CommitConnection', totalCount: commit.parents }),
  };
}

const actorNode = ({ name, email, date }: GitActor) => ({
  __typename: 'GitActor',
  name,
  email,
  date: date.toISOString(),
});
