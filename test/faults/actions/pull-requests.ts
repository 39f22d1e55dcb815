import type { Random } from '../../../sandbox/http/random.ts';
import { bases, labels } from '../conditions.ts';
import { type Action, oneOf, openOnes, type Stage } from '../stage.ts';

export const mostOpen = 14;

/** What people do at GitHub. */
export const pullRequestActions: Record<string, Action> = {
  open: {
    weight: 4,
    act(stage, random) {
      const { github, repository } = stage;
      if (openOnes(stage).length >= mostOpen) return null;
      // Of one head branch two pull requests may lead to two bases: they share its status.
      const sibling = random.chance(0.2) ? oneOf(random, openOnes(stage)) : undefined;
      const { number, headSha } = github.openPullRequest(repository, {
        author: random.chance(0.5) ? 'ada' : 'bob',
        base: oneOf(random, bases),
        labels: labels.filter(() => random.chance(0.3)),
        draft: random.chance(0.2),
        autoMerge: random.chance(0.2),
        ...(sibling && { head: github.pullRequest(repository, sibling.number).head }),
      });
      return `#${number} opened at ${headSha.slice(0, 7)}${sibling ? `, as #${sibling.number}` : ''}`;
    },
  },
  push: onOne(3, ({ github, repository }, number) => {
    const sha = github.push(repository, number);
    return `#${number} pushed to ${sha.slice(0, 7)}`;
  }),
  label: onOne(4, ({ github, repository }, number, random) => {
    const name = oneOf(random, labels)!;
    github.label(repository, number, name);
    return `#${number} labelled ${name}`;
  }),
  unlabel: onOne(3, ({ github, repository }, number, random) => {
    const name = oneOf(random, github.pullRequest(repository, number).labels);
    if (name === undefined) return null;
    github.unlabel(repository, number, name);
    return `#${number} no longer labelled ${name}`;
  }),
  draft: onOne(2, ({ github, repository }, number) => {
    github.markDraft(repository, number);
    return `#${number} is a draft`;
  }),
  ready: onOne(3, ({ github, repository }, number) => {
    github.markReady(repository, number);
    return `#${number} is ready`;
  }),
  // Back to the branch of an exemption it never goes: what ended meanwhile unseen would let it through there again.
  retarget: onOne(2, ({ github, repository, model }, number, random) => {
    const base = oneOf(random, bases)!;
    const wasExempt = model.exemptions.some((each) => each.number === number && each.base === base);
    if (wasExempt || model.deciding.includes(number)) return null;
    github.retarget(repository, number, base);
    return `#${number} leads to ${base}`;
  }),
  close: onOne(1, ({ github, repository }, number) => {
    github.closePullRequest(repository, number);
    return `#${number} closed`;
  }),
  reopen: {
    weight: 1,
    act({ github, repository }, random) {
      const closed = github.pullRequests(repository).filter(({ state }) => state === 'closed');
      const chosen = oneOf(random, closed);
      if (!chosen) return null;
      github.reopenPullRequest(repository, chosen.number);
      return `#${chosen.number} reopened`;
    },
  },
  merge: onOne(5, ({ github, repository }, number) => {
    const { merged, message } = github.merge(repository, number);
    return merged ? `#${number} merged by button` : `#${number} not merged: ${message}`;
  }),
  autoMerge: onOne(2, ({ github, repository }, number) => {
    github.enableAutoMerge(repository, number);
    return `#${number} merges by itself`;
  }),
  noAutoMerge: onOne(1, ({ github, repository }, number) => {
    github.disableAutoMerge(repository, number);
    return `#${number} no longer merges by itself`;
  }),
};

/** A step on one of the open pull requests. */
function onOne(weight: number, act: (stage: Stage, number: number, random: Random) => string | null): Action {
  return {
    weight,
    act(stage, random) {
      const chosen = oneOf(random, openOnes(stage));
      return chosen ? act(stage, chosen.number, random) : null;
    },
  };
}
