import { type Action, oneOf, openOnes, type Stage } from '../stage.ts';

/** The branch that GitHub merges by a queue. */
export const queuedBranch = 'main';

const entries = ({ github, repository }: Stage) =>
  github.mergeQueue(repository, queuedBranch).map(({ number }) => number);

/** What people do with GitHub's merge queue. */
export const mergeQueueActions: Record<string, Action> = {
  enqueue: {
    weight: 5,
    act(stage, random) {
      const { github, repository } = stage;
      const queued = entries(stage);
      const others = openOnes(stage).filter(
        ({ number, base }) => base === queuedBranch && !queued.includes(number),
      );
      const chosen = oneOf(random, others);
      if (!chosen) return null;
      github.enqueue(repository, chosen.number);
      const isIn = entries(stage).includes(chosen.number);
      return `#${chosen.number} ${isIn ? 'into the queue' : 'merges when ready, or is merged'}`;
    },
  },
  dequeue: {
    weight: 1,
    act(stage, random) {
      const number = oneOf(random, entries(stage));
      if (number === undefined) return null;
      stage.github.dequeue(stage.repository, number);
      return `#${number} out of the queue`;
    },
  },
  jump: {
    weight: 1,
    act(stage, random) {
      const number = oneOf(random, entries(stage));
      if (number === undefined) return null;
      stage.github.jump(stage.repository, number);
      return `#${number} to the front of the queue`;
    },
  },
};
