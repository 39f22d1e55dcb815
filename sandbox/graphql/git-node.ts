import type { GraphQLResolveInfo } from 'graphql';
import { connection, type ConnectionArguments } from './connection.ts';
import type { GitActor, Repository } from '../state/model.ts';

/** A commit in git: message, people, signature, parents. */
export function gitNode(repository: Repository, sha: string) {
  const commit = repository.commitDetails.get(sha);
  if (!commit) return {};
  return {
    message: commit.message,
    author: actorNode(commit.author),
    committer: actorNode(commit.committer),
    signature: commit.isVerified ? { __typename: 'GpgSignature', isValid: true } : null,
    // Counting them needs no page. For the commits themselves, GitHub requires one.
    parents: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) =>
      (args.first ?? args.last ?? null) === null
        ? { __typename: 'CommitConnection', totalCount: commit.parents.length }
        : connection(commit.parents, args, info, (oid) => ({ __typename: 'Commit', oid })),
  };
}

const actorNode = ({ name, email, date }: GitActor) => ({
  __typename: 'GitActor',
  name,
  email,
  date: date.toISOString(),
});
