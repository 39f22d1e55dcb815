import type { Ruleset } from './model.ts';

/** What GitHub's answers about rulesets get wrong, one request at a time. */
export class RulesetFaults {
  /** So many changes answer 200 and change nothing. */
  ignoredUpdates = 0;
  /** So many answers show the ruleset as it was before its last change. */
  oldAnswers = 0;
  readonly #before = new Map<number, Ruleset>();

  /** Whether to change nothing this time. */
  ignores(): boolean {
    return this.ignoredUpdates > 0 && this.ignoredUpdates-- > 0;
  }

  /** Keeps what a ruleset is like before a change. */
  changing(ruleset: Ruleset): void {
    this.#before.set(ruleset.id, { ...ruleset });
  }

  /** What an answer shows of a ruleset. */
  shown(ruleset: Ruleset): Ruleset {
    const before = this.#before.get(ruleset.id);
    if (!before || this.oldAnswers === 0) return ruleset;
    this.oldAnswers--;
    return before;
  }
}
