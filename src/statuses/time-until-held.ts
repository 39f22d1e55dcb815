import { judgeBase } from '../conditions/match.ts';
import { type FreezeVerdict, judgeFreeze, type ParsedFreeze, couldHold } from '../freezes/judge-freeze.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import { mapAtOnce } from '../time/slices.ts';
import { listedWords } from '../words/event-words.ts';
import type { Mode, Base } from './instant-hold/hold.ts';
import { nowOf } from '../time/clock.ts';
import { firstPace } from './plan-write.ts';
import type { StatusDeps } from './status-deps.ts';

/** How many open pull requests a freeze selects, and how many there are on the branches that it could select. */
export type Selected = { selected: number; open: number };

/** The same as far as the base branches alone say it; null if pull requests have to be read. */
export function selectedByBases(freeze: ParsedFreeze, bases: Base[]): Selected | null {
  const { conditions } = freeze;
  let selected = 0;
  for (const { name, open } of bases) {
    if (!couldHold(freeze, { base: name })) continue;
    if (!conditions || name === null) return null;
    const isExcluded = conditions.exclude !== null && judgeBase(conditions.exclude, name) !== false;
    if (judgeBase(conditions.matching, name) !== true || isExcluded) return null;
    selected += open;
  }
  return { selected, open: selected };
}

/** The same for pull requests that were read. */
export async function selectedAmong(
  freeze: ParsedFreeze,
  open: PullRequestFacts[],
  at: Date,
): Promise<Selected> {
  const verdicts = await mapAtOnce(open, (facts): FreezeVerdict | null => {
    const base = facts.stack?.base ?? (facts.values.base as string | undefined) ?? null;
    return couldHold(freeze, { base }) ? judgeFreeze(freeze, facts, at.getTime()) : null;
  });
  return {
    selected: verdicts.filter((verdict) => verdict === 'frozen' || verdict === 'unknown').length,
    open: verdicts.filter((verdict) => verdict !== null).length,
  };
}

/** A ruleset blocks everything on a branch for a moment. It must hold at least this share of it. */
const leastShare = 1 / 4;

/** If statuses hold everything within so many seconds, a ruleset is not worth it. */
const leastSeconds = 20;

/** How many repositories a sentence names. */
const mostNamed = 3;

/** Seconds that statuses take at today's pace. */
export const secondsOf = (statuses: number, perMinute: number): number =>
  Math.ceil((statuses * 60) / perMinute);

/** Why a bridge does nothing for a freeze, as a sentence; null if it is worth it. */
export function whyNoBridge({ selected, open }: Selected, perMinute: number): string | null {
  const seconds = secondsOf(selected, perMinute);
  if (seconds < leastSeconds)
    return `The instant hold does nothing for this freeze: Holdfast can write the statuses of ${pullRequests(selected)} in about ${seconds} s.`;
  if (selected < leastShare * open)
    return `The instant hold does nothing for this freeze: it selects ${counted(selected)} of ${counted(open)} open pull requests, and a ruleset would block all of them for a moment.`;
  return null;
}

/**
 * What a freeze would select in a repository. @property refused those that GitHub refuses by their status, because their
 * branch requires the check; null if that is not known. @property error why its instant hold does not work.
 */
export type Outlook = Selected & { name: string; refused: number | null; mode: Mode; error: string | null };

/** How long it takes until everything is blocked, as instant holds are set and without them, and both in words. */
export type TimeUntilHeld = { seconds: number; statusesSeconds: number; message: string };

/** @returns null if nothing would be blocked. */
export function timeUntilHeld(all: Outlook[], perMinute: number): TimeUntilHeld | null {
  const isByRuleset = (each: Outlook) =>
    each.error === null &&
    (each.mode === 'lock' || (each.mode === 'bridge' && !whyNoBridge(each, perMinute)));
  const inRulesets = all.filter((each) => each.open > 0 && isByRuleset(each));
  // A ruleset requires its own check, whatever else the branch requires.
  const byStatus = all.map((each) => ({ ...each, selected: each.refused ?? each.selected }));
  const blocked = byStatus.map((each, index) => (inRulesets.includes(all[index]!) ? all[index]! : each));
  const [written, held, atOnce] = [sumOf(all).selected, sumOf(blocked).selected, sumOf(inRulesets).selected];
  const others = sumOf(inRulesets).open - atOnce;
  if (held + others === 0) return null;
  const statusesSeconds = secondsOf(written, perMinute);
  const rulesetSeconds = secondsOfRulesets(inRulesets.length);
  const seconds = atOnce === held ? rulesetSeconds : secondsOf(written + others, perMinute);
  const rulesets = inRulesets.length === 1 ? 'A ruleset blocks' : 'Rulesets block';
  const soon = rulesetSeconds === 1 ? 'a second' : about(rulesetSeconds);
  const othersSeconds = secondsOf(others, perMinute);
  const isLocked = inRulesets.some(({ mode }) => mode === 'lock');
  const sentences = [
    ...onlyIf(
      atOnce > 0 && atOnce === held,
      `${rulesets} ${allOf(held)} within ${soon}.`,
      sumOf(byStatus).selected > 0
        ? `Without an instant hold, it takes ${about(statusesSeconds)}.`
        : 'Nothing requires the check, so without an instant hold nothing is blocked.',
    ),
    ...onlyIf(
      atOnce > 0 && atOnce < held,
      `${rulesets} ${counted(atOnce)} of ${pullRequests(held)} within ${soon}.`,
      `The others take ${about(seconds)}, as all of them do without an instant hold.`,
    ),
    ...onlyIf(
      atOnce === 0 && held > 0,
      `${capitalized(allOf(held))} ${held === 1 ? 'is' : 'are'} blocked within ${about(seconds)}.`,
    ),
    ...onlyIf(
      all.every(({ mode }) => mode === 'off') && !whyNoBridge(sumOf(all), perMinute),
      'With an instant hold, it takes some seconds.',
    ),
    ...whyNoRuleset(all, perMinute),
    ...onlyIf(
      othersSeconds >= leastSeconds,
      `${counted(others)} other pull requests are blocked too, for up to ${about(othersSeconds)}.`,
    ),
    ...onlyIf(
      inRulesets.length > 0,
      `Direct pushes are refused until ${isLocked ? 'the last freeze ends' : 'the statuses are written'}.`,
    ),
  ];
  return { seconds, statusesSeconds, message: sentences.join(' ') };
}

const onlyIf = (isSo: boolean, ...sentences: string[]): string[] => (isSo ? sentences : []);

/** Why instant holds that are set do nothing: for one repository its reason, for several how many. */
function whyNoRuleset(all: Outlook[], perMinute: number): string[] {
  const broken = all.filter(({ mode, error }) => mode !== 'off' && error !== null);
  const idle = all.filter((each) => each.mode === 'bridge' && !each.error && each.selected > 0);
  const whyIdle = idle.flatMap((each) => whyNoBridge(each, perMinute) ?? []);
  if (all.length === 1)
    return [...broken.map(({ error }) => `The instant hold does not work. ${error}`), ...whyIdle];
  const names = broken.map(({ name }) => name);
  return [
    ...onlyIf(names.length > 0, `The instant hold does not work in ${listedWords(names, mostNamed)}.`),
    ...onlyIf(
      whyIdle.length > 0,
      `In ${repositories(whyIdle.length)}, no ruleset is used: the statuses take some seconds, or it would block many others for a moment.`,
    ),
  ];
}

/** How many rulesets GitHub takes a minute: of 900 points, a change costs 5 and reading it back 1. */
const rulesetsPerMinute = 150;

/** Seconds until so many rulesets are in force: as the benchmarks require it, and not faster than GitHub takes them. */
const secondsOfRulesets = (count: number): number =>
  count <= 1 ? 1 : count <= 10 ? 3 : Math.max(30, 60 * Math.floor((count - 1) / rulesetsPerMinute));

const sumOf = (all: Selected[]): Selected => ({
  selected: all.reduce((sum, { selected }) => sum + selected, 0),
  open: all.reduce((sum, { open }) => sum + open, 0),
});

/** `about 8 minutes` */
export function about(seconds: number): string {
  if (seconds < 90) return `about ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} minutes`;
  return `about ${Math.round(seconds / 3600)} hours`;
}

const counted = (count: number): string => count.toLocaleString('en');

const pullRequests = (count: number): string =>
  count === 1 ? '1 pull request' : `${counted(count)} pull requests`;

const allOf = (count: number): string => `${count === 1 ? '' : 'all '}${pullRequests(count)}`;

const repositories = (count: number): string =>
  count === 1 ? '1 repository' : `${counted(count)} repositories`;

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** How many statuses a minute an installation writes, as far as it learned. */
export function paceOf(
  { config, clock }: Pick<StatusDeps, 'config' | 'clock'>,
  { pacePerMinute }: { pacePerMinute: number | null },
): number {
  const { least, most } = config.statusWritesPerMinute;
  const { perMinute } = firstPace({ least, most }, nowOf(clock));
  return Math.min(most, Math.max(least, pacePerMinute ?? perMinute));
}
