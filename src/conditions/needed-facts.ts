import type { ConditionNode, Leaf } from './ast.ts';
import { attributeOf } from './attributes.ts';
import type { Need } from './needs.ts';

/** The facts to load for evaluating conditions. */
export type FactNeeds = {
  facts: ReadonlySet<Need>;
  /** Teams as they were written, in lower case: `@core`, `@acme/core`. */
  teams: ReadonlySet<string>;
};

/** The facts that these conditions read. A freeze on `base` or `#files` loads no files. */
export function neededFacts(nodes: ConditionNode[]): FactNeeds {
  const facts = new Set<Need>();
  const teams = new Set<string>();
  const visit = (node: ConditionNode): void => {
    if (node.kind === 'not') visit(node.node);
    else if (node.kind !== 'leaf') node.nodes.forEach(visit);
    else {
      for (const need of needsOfLeaf(node)) facts.add(need);
      if (node.test.type === 'team') teams.add(node.test.team);
    }
  };
  nodes.forEach(visit);
  return { facts, teams };
}

function needsOfLeaf({ attribute, isCounted, test }: Leaf): Need[] {
  const { needs, hasOwnCount } = attributeOf(attribute);
  if (test.type === 'team') return needs ? [needs, 'teams'] : ['teams'];
  return needs && !(isCounted && hasOwnCount) ? [needs] : [];
}
