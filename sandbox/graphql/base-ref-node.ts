import type { GraphQLResolveInfo } from 'graphql';
import { connection, type ConnectionArguments } from './connection.ts';
import { rulesetsOn } from '../state/branch-rules.ts';
import type { PullRequest } from '../state/model.ts';

/** The base branch with its requirements, from protection and from rulesets. */
export function baseRefNode({ repository, base, nodeId }: PullRequest) {
  const required = repository.protection.get(base)?.checks.map(({ context }) => context);
  const rules = rulesetsOn(repository, base).map((ruleset) => ({
    __typename: 'RepositoryRule',
    id: `${nodeId}_rule_${ruleset.id}`,
    type: 'REQUIRED_STATUS_CHECKS',
    parameters: {
      __typename: 'RequiredStatusChecksParameters',
      requiredStatusChecks: ruleset.checks.map(({ context, appId }) => ({
        __typename: 'StatusCheckConfiguration',
        context,
        integrationId: appId,
      })),
    },
  }));
  return {
    __typename: 'Ref',
    id: `${nodeId}_base`,
    name: base,
    target: () => {
      const oid = repository.branches.get(base);
      return oid === undefined ? null : { __typename: 'Commit', id: `C_${oid}`, oid };
    },
    refUpdateRule: required ? { __typename: 'RefUpdateRule', requiredStatusCheckContexts: required } : null,
    rules: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) =>
      connection(rules, args, info, (each) => each),
  };
}
