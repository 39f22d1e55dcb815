import { LRUCache } from 'lru-cache';
import { neededFacts, type FactNeeds } from '../conditions/needs.ts';
import type { ConditionFacts } from '../conditions/attributes.ts';
import type { ConditionNode } from '../conditions/ast.ts';
import { type Matcher, prepareFacts, isTimed, earliest, nextChange, judgeBase } from '../conditions/match.ts';
import { parseAhead, parseConditions } from '../conditions/parse-conditions.ts';
import { type Freeze, holdsMerges, holdsDeployments } from './freeze.ts';
import { explain, type ConditionReason } from '../conditions/explain.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import { mapAtOnce } from '../time/slices.ts';

/** A freeze with parsed conditions; null if they cannot be read, which only an older version can cause. */
export type ParsedFreeze = { freeze: Freeze } & Parsed;
type Parsed = { conditions: FreezeConditions | null };

export type FreezeConditions = {
  matching: Matcher;
  /** Null if it excludes nothing. */
  exclude: Matcher | null;
  needs: FactNeeds;
  /** Whether time alone can change what the freeze holds during its window. */
  isTimed: boolean;
};

/** Conditions that match no pull request: an empty `or`. */
const matchesNothing: ConditionNode[] = [{ kind: 'or', nodes: [] }];

/** Takes plans too. What only holds deployments matches no pull request and ignores its conditions. */
export function parseFreeze<Of extends Pick<Freeze, 'matchingConditions' | 'excludeConditions' | 'holds'>>(
  freeze: Of,
): { freeze: Of } & Parsed {
  if (!holdsMerges(freeze)) return { freeze, conditions: prepareConditions(matchesNothing, []) };
  const matching = parseConditions(freeze.matchingConditions, []);
  const exclude = parseConditions(freeze.excludeConditions, []);
  if (!matching.ok || !exclude.ok) return { freeze, conditions: null };
  return { freeze, conditions: prepareConditions(matching.conditions, exclude.conditions) };
}

/** Parsed conditions, cached by freeze and version. */
const kept = new LRUCache<string, Parsed>({ max: 1000 });

/** Like `parseFreeze`, but parses each version of a freeze once, because every pull request event needs all of them. */
export function parseStoredFreeze(freeze: Freeze & { version: number }): ParsedFreeze {
  const key = `${freeze.id}@${freeze.version}`;
  const known = kept.get(key);
  if (known) return { freeze, conditions: known.conditions };
  const { conditions } = parseFreeze(freeze);
  kept.set(key, { conditions });
  return { freeze, conditions };
}

/** The same for many, whose long lists are read in slices. */
export async function parseStoredFreezes(freezes: (Freeze & { version: number })[]): Promise<ParsedFreeze[]> {
  for (const { id, version, matchingConditions, excludeConditions } of freezes)
    if (!kept.has(`${id}@${version}`)) await parseAhead(matchingConditions, excludeConditions);
  return freezes.map(parseStoredFreeze);
}

function prepareConditions(matching: ConditionNode[], exclude: ConditionNode[]): FreezeConditions {
  const matchers = {
    matching: prepareFacts(matching),
    exclude: exclude.length > 0 ? prepareFacts(exclude, true) : null,
  };
  const both = [matchers.matching, ...(matchers.exclude ? [matchers.exclude] : [])];
  return {
    ...matchers,
    needs: { ...neededFacts([...matching, ...exclude]), matchers: both },
    isTimed: isTimed(matchers.matching) || (matchers.exclude !== null && isTimed(matchers.exclude)),
  };
}

/** The facts that we must load to judge these freezes. */
export function needsOf(freezes: Parsed[]): FactNeeds {
  const needs = freezes.flatMap(({ conditions }) => (conditions ? [conditions.needs] : []));
  return {
    facts: new Set(needs.flatMap(({ facts }) => [...facts])),
    teams: new Set(needs.flatMap(({ teams }) => [...teams])),
    matchers: needs.flatMap(({ matchers }) => matchers ?? []),
  };
}

/**
 * The verdict of an ongoing freeze on a pull request. `unknown` means that its conditions cannot be evaluated, so it
 * holds: an unknown match holds, and an unknown exclusion does not exclude.
 */
export type FreezeVerdict = 'frozen' | 'excluded' | 'not_matched' | 'unknown';

/** @param now milliseconds since the epoch, as everywhere here. */
export function judgeFreeze({ conditions }: ParsedFreeze, facts: ConditionFacts, now: number): FreezeVerdict {
  if (!conditions) return 'unknown';
  const matches = conditions.matching.judge(facts, now);
  if (matches === false) return 'not_matched';
  const excludes = conditions.exclude?.judge(facts, now) ?? false;
  if (excludes === true) return 'excluded';
  return matches === 'unknown' || excludes === 'unknown' ? 'unknown' : 'frozen';
}

/**
 * Whether more facts change nothing that these freezes decide. Facts that are not known yet count as unknown, so what
 * they cannot change is decided without them.
 */
export const isDecided = (freezes: ParsedFreeze[], facts: ConditionFacts, now: number): boolean =>
  freezes.every((freeze) => freeze.conditions === null || judgeFreeze(freeze, facts, now) !== 'unknown');

/** The conditions of both lists with the values that they saw. */
export type FreezeReasons = { matching: ConditionReason[]; exclude: ConditionReason[] };

export function explainFreeze(
  { conditions }: ParsedFreeze,
  facts: ConditionFacts,
  now: number,
): FreezeReasons {
  if (!conditions) return { matching: [], exclude: [] };
  const { matching, exclude } = conditions;
  return {
    matching: explain(matching, facts, now).reasons,
    exclude: exclude ? explain(exclude, facts, now).reasons : [],
  };
}

/** Why a freeze could not be evaluated and so holds, for a status and the log. */
export function whyUnknown(parsed: ParsedFreeze, facts: ConditionFacts, now: number): string {
  if (!parsed.conditions) return 'its conditions cannot be read any more';
  const { matching, exclude } = explainFreeze(parsed, facts, now);
  const deciding = [...matching, ...exclude].find(({ match, decides }) => match === 'unknown' && decides);
  return deciding?.why ?? 'a condition could not be judged';
}

/** The first instant at which time alone may change the verdict; null if never during the freeze. */
export function nextChangeOf(
  { conditions }: ParsedFreeze,
  facts: ConditionFacts,
  now: number,
): number | null {
  if (!conditions?.isTimed) return null;
  const { matching, exclude } = conditions;
  const ofMatching = nextChange(matching, facts, now);
  if (ofMatching === null && matching.judge(facts, now) === false) return null;
  const ofExclude = exclude && nextChange(exclude, facts, now);
  if (exclude && ofExclude === null && exclude.judge(facts, now) === true) return null;
  return earliest([ofMatching, ofExclude]);
}

/** Labels that release a pull request from a freeze, each on its own: by adding or removing it. */
export type ReleasingLabels = { putOn: string[]; takeOff: string[] };

/**
 * Tries each label in the conditions of a freeze.
 * @param now in milliseconds since the epoch.
 * @returns none if the labels of the pull request are unknown.
 */
export async function releasingLabels(
  freeze: ParsedFreeze,
  facts: PullRequestFacts,
  now: number,
): Promise<ReleasingLabels> {
  const present = facts.values.label;
  if (!freeze.conditions || !Array.isArray(present)) return { putOn: [], takeOff: [] };
  const { matching, exclude } = freeze.conditions;
  const named = [...new Set([...labelsIn(matching), ...(exclude ? labelsIn(exclude) : [])])];
  const letsGo = (label: string[]) => {
    const verdict = judgeFreeze(freeze, { ...facts, values: { ...facts.values, label } }, now);
    return verdict === 'excluded' || verdict === 'not_matched';
  };
  const isOn = (label: string) => has(present, label);
  const without = (label: string) => present.filter((each) => !same(each, label));
  const releases = await mapAtOnce(named, (label) =>
    letsGo(isOn(label) ? without(label) : [...present, label]),
  );
  const releasing = named.filter((_, index) => releases[index]);
  return {
    putOn: releasing.filter((label) => !isOn(label)),
    takeOff: releasing.filter(isOn),
  };
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
const has = (labels: string[], label: string): boolean => labels.some((each) => same(each, label));

/** The labels that conditions compare with. Ignores patterns. */
function labelsIn(matcher: Matcher): string[] {
  if (matcher.kind === 'not') return labelsIn(matcher.node);
  if (matcher.kind !== 'leaf') return matcher.nodes.flatMap(labelsIn);
  const { attribute, isCounted, test } = matcher.leaf;
  if (attribute !== 'label' || isCounted || test.type !== 'text' || test.value.usesAuthor) return [];
  return test.operator === '=' || test.operator === '!=' ? [test.value.value] : [];
}

type Conditions = Pick<Freeze, 'matchingConditions'>;
type Exclusions = Pick<Freeze, 'excludeConditions'>;

/** The branches in the `base=` conditions of a freeze. */
export function namedBranches({ matchingConditions }: Conditions): string[] {
  const parsed = parseConditions(matchingConditions, []);
  return parsed.ok ? [...new Set(parsed.conditions.flatMap(namesIn))] : [];
}

/** All branches that a freeze can affect; null if it can affect any branch. */
export function onlyBranches({ matchingConditions }: Conditions): string[] | null {
  const parsed = parseConditions(matchingConditions, []);
  if (!parsed.ok) return null;
  const only = basesOf({ kind: 'and', nodes: parsed.conditions });
  return only && [...only];
}

/** The branches that a freeze always excludes. */
export function excludedBranches({ excludeConditions }: Exclusions): string[] {
  const parsed = parseConditions(excludeConditions, []);
  if (!parsed.ok || !parsed.conditions.every(isOfBasesAlone)) return [];
  return [...(basesOf({ kind: 'and', nodes: parsed.conditions }) ?? [])];
}

function isOfBasesAlone(node: ConditionNode): boolean {
  if (node.kind === 'not') return false;
  return node.kind === 'leaf' ? baseOf(node) !== null : node.nodes.every(isOfBasesAlone);
}

/** The base branch that a condition names exactly: not negated, and not a pattern. */
function baseOf(node: ConditionNode): string | null {
  if (node.kind !== 'leaf' || node.attribute !== 'base' || node.isNegated || node.isCounted) return null;
  const { test } = node;
  return test.type === 'text' && test.operator === '=' && !test.value.usesAuthor ? test.value.value : null;
}

function namesIn(node: ConditionNode): string[] {
  if (node.kind === 'not') return [];
  if (node.kind !== 'leaf') return node.nodes.flatMap(namesIn);
  const base = baseOf(node);
  return base === null ? [] : [base];
}

function basesOf(node: ConditionNode): Set<string> | null {
  if (node.kind === 'not') return null;
  if (node.kind === 'leaf') {
    const base = baseOf(node);
    return base === null ? null : new Set([base]);
  }
  const inner = node.nodes.map(basesOf);
  if (node.kind === 'or') {
    return inner.includes(null) ? null : new Set(inner.flatMap((bases) => [...bases!]));
  }
  return inner.reduce((all, bases) => (all && bases ? both(all, bases) : (all ?? bases)), null);
}

const both = (one: Set<string>, other: Set<string>): Set<string> =>
  new Set([...one].filter((each) => other.has(each)));

/** Pull requests into a branch (null: any branch), or deployments to an environment. */
export type FreezeQuery = { base: string | null } | { environment: string };

type Holding = Pick<ParsedFreeze, 'conditions'> & { freeze: Pick<Freeze, 'holds' | 'environments'> };

/** Whether a freeze could hold a deployment to an environment, or some pull request into a branch. */
export function couldHold({ freeze, conditions }: Holding, asked: FreezeQuery): boolean {
  if ('environment' in asked) return holdsDeployments(freeze, asked.environment);
  // Conditions that cannot be read hold, as they do when we judge pull requests.
  if (!conditions) return true;
  const { matching, exclude } = conditions;
  return judgeBase(matching, asked.base) !== false && !(exclude && judgeBase(exclude, asked.base) === true);
}
