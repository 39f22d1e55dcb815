import { didNotGive, type Fact, known, notKnown } from '../pull-requests/fact.ts';
import type { BaseRefAnswer } from '../queries/answers.ts';

/** The contexts that the base branch requires, by its protection and by rulesets. */
export function readRequiredChecks(baseRef: BaseRefAnswer | null | undefined): Fact<string[]> {
  const rules = baseRef?.rules;
  // Reads one page: nobody has more than a hundred rules for one branch.
  if (!rules?.nodes || rules.nodes.includes(null) || rules.pageInfo.hasNextPage) {
    return notKnown(didNotGive('required checks'));
  }
  const ofProtection = baseRef?.refUpdateRule?.requiredStatusCheckContexts ?? [];
  const ofRules = rules.nodes.flatMap((rule) => rule?.parameters?.requiredStatusChecks ?? []);
  const contexts = [...ofProtection, ...ofRules.map(({ context }) => context)];
  return known([...new Set(contexts.filter((context) => context !== null))]);
}
