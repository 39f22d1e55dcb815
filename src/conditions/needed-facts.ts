import type { ConditionNode } from './ast.ts';
import { attributeOf } from './attributes.ts';

/** Which costly facts must be loaded. */
export type FactNeeds = { labels: boolean; files: boolean; scopes: boolean };

/** What these conditions read: a freeze on `base` alone loads no files. */
export function neededFacts(nodes: ConditionNode[]): FactNeeds {
  const needs: FactNeeds = { labels: false, files: false, scopes: false };
  const visit = (node: ConditionNode): void => {
    if (node.kind === 'leaf') {
      const fact = attributeOf(node.attribute).needs;
      if (fact) needs[fact] = true;
    } else if (node.kind === 'not') visit(node.node);
    else node.nodes.forEach(visit);
  };
  nodes.forEach(visit);
  return needs;
}
