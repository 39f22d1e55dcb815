import type { GraphQLResolveInfo } from 'graphql';
import { instantJson } from '../json/instant-json.ts';
import { accountNode } from './account-node.ts';
import { connection, type ConnectionArguments } from './connection.ts';
import type { Commit, GitActor, Repository } from '../state/model.ts';

/** A commit in git: message, people, signature, parents. */
export function gitNode(repository: Repository, sha: string) {
  const commit = repository.commitDetails.get(sha);
  if (!commit) return {};
  return {
    message: commit.message,
    author: { ...actorNode(commit.author), user: userNode(commit.author) },
    committer: actorNode(commit.committer),
    signature: commit.isVerified
      ? { __typename: 'GpgSignature', isValid: true, wasSignedByGitHub: commit.isSignedByGitHub }
      : null,
    // Counting them needs no page. For the commits themselves, GitHub requires one.
    parents: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) =>
      (args.first ?? args.last ?? null) === null
        ? { __typename: 'CommitConnection', totalCount: commit.parents.length }
        : connection(commit.parents, args, info, (oid) => ({ __typename: 'Commit', oid })),
  };
}

/** Here, and only here, GraphQL gives a bot as a user, with the login that REST gives it. */
const userNode = ({ user }: Commit['author']) => user && { ...accountNode(user), login: user.login };

const actorNode = ({ name, email, date }: GitActor) => ({
  __typename: 'GitActor',
  name,
  email,
  date: instantJson(date),
});
