import {
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

export interface QueryCost {
  /** Points against the hourly budget. */
  cost: number;
  /** Nodes that the query could return; GitHub refuses more than 500,000. */
  nodeCount: number;
}

/** `@include(if: $x)` and `@skip(if: $x)`: fields that are switched off cost nothing. */
function isLeftOut({ directives = [] }: SelectionNode, variables: Record<string, unknown>): boolean {
  return directives.some((directive) => {
    const condition = directive.arguments?.find(({ name }) => name.value === 'if')?.value;
    const value = condition?.kind === Kind.VARIABLE ? variables[condition.name.value] : undefined;
    return directive.name.value === 'include'
      ? value === false
      : directive.name.value === 'skip' && value === true;
  });
}

/** GitHub's published formula: a request for each connection, times its parents, divided by 100. */
export function queryCost(document: DocumentNode, variables: Record<string, unknown>): QueryCost {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  let requests = 0;
  let nodeCount = 0;

  function walk(selections: SelectionSetNode | undefined, parents: number): void {
    for (const selection of selections?.selections ?? []) {
      if (isLeftOut(selection, variables)) continue;
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        walk(fragments.get(selection.name.value)?.selectionSet, parents);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, parents);
      } else {
        const bound = selection.arguments?.find(
          ({ name }) => name.value === 'first' || name.value === 'last',
        );
        let size = 0;
        if (bound?.value.kind === Kind.INT) size = Number(bound.value.value);
        if (bound?.value.kind === Kind.VARIABLE) size = Number(variables[bound.value.name.value] ?? 0);
        if (size > 0) {
          requests += parents;
          nodeCount += parents * size;
        }
        walk(selection.selectionSet, size > 0 ? parents * size : parents);
      }
    }
  }

  const operations = document.definitions.filter(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  );
  for (const operation of operations) walk(operation.selectionSet, 1);
  return { cost: Math.max(1, Math.round(requests / 100)), nodeCount };
}
