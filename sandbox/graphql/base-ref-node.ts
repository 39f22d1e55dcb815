import type { GraphQLResolveInfo } from 'graphql';
import { connection, type ConnectionArguments } from './connection.ts';
import type { PullRequest } from '../state/model.ts';

/** The base branch with what it requires: by protection, and as a ruleset would say it. */
export function baseRefNode({ repository, base, nodeId }: PullRequest) {
  const required = repository.protection.get(base);
  const rule = {
    __typename: 'RepositoryRule',
    id: `${nodeId}_rule`,
    type: 'REQUIRED_STATUS_CHECKS',
    parameters: {
      __typename: 'RequiredStatusChecksParameters',
      requiredStatusChecks: (required ?? []).map((context) => ({
        __typename: 'StatusCheckConfiguration',
        context,
      })),
    },
  };
  return {
    __typename: 'Ref',
    id: `${nodeId}_base`,
    name: base,
    refUpdateRule: required ? { __typename: 'RefUpdateRule', requiredStatusCheckContexts: required } : null,
    rules: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) =>
      connection(required ? [rule] : [], args, info, (each) => each),
  };
}
