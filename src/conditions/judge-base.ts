import type { ConditionFacts } from './condition-facts.ts';
import type { Judge } from './judge-leaf.ts';
import { all, any, type Matcher } from './match.ts';
import { not, type Verdict } from './verdict.ts';

/**
 * Evaluates conditions if only the base branch is known. Everything else, including the time, is unknown.
 * @param base null if the base is unknown too.
 */
export function judgeBase(matcher: Matcher, base: string | null): Verdict {
  const facts: ConditionFacts = {
    values: base === null ? {} : { base },
    whyNotKnown: {},
    hasEveryScope: false,
    teams: new Map(),
  };
  return judgeOf(matcher)(facts, 0);
}

/** Cached, because pipelines ask about the same freezes all day. */
const judges = new WeakMap<Matcher, Judge>();

function judgeOf(matcher: Matcher): Judge {
  const judge = judges.get(matcher) ?? ofBase(matcher);
  judges.set(matcher, judge);
  return judge;
}

function ofBase(matcher: Matcher): Judge {
  switch (matcher.kind) {
    case 'leaf':
      return matcher.leaf.attribute === 'base' ? matcher.judge : () => 'unknown';
    case 'not': {
      const inner = ofBase(matcher.node);
      return (facts, now) => not(inner(facts, now));
    }
    default: {
      const judges = matcher.nodes.map(ofBase);
      return matcher.kind === 'and' ? all(judges) : any(judges);
    }
  }
}
