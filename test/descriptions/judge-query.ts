// Whether GitHub would take a text of GraphQL, what it would count for it, and whether the token may ask it.
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import {
  buildSchema,
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getOperationAST,
  type GraphQLNamedType,
  type GraphQLObjectType,
  Kind,
  NoDeprecatedCustomRule,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  specifiedRules,
  validate,
} from 'graphql';
import { queryCost } from '../../sandbox/graphql/query-cost.ts';
import type { RecordedExchange } from '../support/record-github.ts';
import { faultsOfInstants } from './judge-exchange.ts';
import { compared } from './judge-permissions.ts';
import { neededForField } from './permissions.ts';

const file = join(dirname(findPackageJSON('@octokit/graphql-schema', import.meta.url)!), 'schema.graphql');
const schema = buildSchema(readFileSync(file, 'utf8'), { assumeValid: true });

/** GitHub refuses more nodes than 500,000, and an hour has 5,000 points: a request must stay far below both. */
const mostPoints = 60;
const mostNodes = 100_000;

type Body = { query: string; variables?: Record<string, unknown> };

/** The name of an operation, which everything that is wrong with it begins with. */
export const operationOf = ({ body }: RecordedExchange): string =>
  /\b(?:query|mutation)\s+(\w+)/.exec((body as Body).query)?.[1] ?? 'without a name';

/** @returns a sentence for each fault. */
export function faultsOfQuery(exchange: RecordedExchange): string[] {
  const { query, variables = {} } = exchange.body as Body;
  const document = parse(query);
  const invalid = validate(schema, document, [...specifiedRules, NoDeprecatedCustomRule]);
  const { cost, nodeCount } = queryCost(document, variables);
  return [
    ...invalid.map(({ message }) => message),
    ...(cost > mostPoints ? [`it costs ${cost} points, over ${mostPoints}`] : []),
    ...(nodeCount > mostNodes ? [`it asks for ${nodeCount} nodes, over ${mostNodes}`] : []),
    ...faultsOfFields(document, exchange),
    ...faultsOfInstants(exchange.answer),
  ];
}

type Answer = { data?: unknown; errors?: { message: string; path?: (string | number)[] }[] };
/** @property values what the answer has there. @property path to there, without places in lists. */
type Place = { type: GraphQLNamedType; values: unknown[]; path: string[] };

/** What each field that the answer has, or that it refuses, needs. */
function faultsOfFields(document: DocumentNode, exchange: RecordedExchange): string[] {
  if (exchange.caller !== 'installation') return [];
  const { variables = {} } = exchange.body as Body;
  const { data, errors = [] } = (exchange.answer ?? {}) as Answer;
  const refusals = new Set(
    errors
      .filter(({ message }) => message === 'Resource not accessible by integration')
      .map(({ path = [] }) => path.filter((step) => typeof step === 'string').join('.')),
  );
  const fragments = new Map(
    document.definitions
      .filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
      .map((each) => [each.name.value, each]),
  );
  const faults = new Set<string>();

  function walk({ selections }: SelectionSetNode, { type, values, path }: Place): void {
    for (const selection of selections) {
      if (isOff(selection, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        if (!selection.name.value.startsWith('__')) look(selection, { type, values, path });
        continue;
      }
      const part = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value)!;
      const name = part.typeCondition?.name.value;
      walk(part.selectionSet, { type: name ? schema.getType(name)! : type, values, path });
    }
  }

  function look(node: FieldNode, { type, values, path }: Place): void {
    const name = node.name.value;
    const key = node.alias?.value ?? name;
    const below = values
      .map((value) => (value as Record<string, unknown>)[key])
      .flat()
      .filter((value) => value !== null && value !== undefined);
    const needs = neededForField(type.name, name);
    if (!needs) faults.add(`permissions.ts does not say what ${type.name}.${name} needs`);
    const outcome = {
      has: exchange.permissions!,
      isOpen: !exchange.isPrivate,
      isDone: below.length > 0,
      isRefused: refusals.has([...path, key].join('.')),
    };
    for (const each of compared(needs ?? [], outcome)) faults.add(`${type.name}.${name} ${each}`);
    const field = (type as GraphQLObjectType).getFields()[name]!;
    if (node.selectionSet)
      walk(node.selectionSet, { type: getNamedType(field.type), values: below, path: [...path, key] });
  }

  const operation = getOperationAST(document)!;
  walk(operation.selectionSet, { type: schema.getQueryType()!, values: data ? [data] : [], path: [] });
  return [...faults];
}

/** `@include(if: $x)` and `@skip(if: $x)`. */
const isOff = ({ directives = [] }: SelectionNode, variables: Record<string, unknown>): boolean =>
  directives.some(({ name, arguments: [condition] = [] }) =>
    condition?.value.kind === Kind.VARIABLE
      ? variables[condition.value.name.value] === (name.value === 'skip')
      : false,
  );
