import type { Action } from '../stage.ts';

/** What happens to the machines. */
export const mishaps: Record<string, Action> = {
  kill: {
    weight: 2,
    act({ fleet, trouble }, random) {
      const name = fleet.kill(random.between(0, 99), random.between(50, 1500));
      if (name) trouble.kills.push(Date.now());
      return name && `${name} killed`;
    },
  },
  clockWrong: {
    weight: 2,
    act({ fleet }, random) {
      const minutes = random.between(20, 480) * (random.chance(0.5) ? 1 : -1);
      const seconds = random.between(1, 11);
      const name = fleet.setWrong(random.between(0, 99), minutes * 60_000, seconds * 1000);
      return name && `the clock of ${name} is off by ${minutes} min for ${seconds} s`;
    },
  },
  clockStep: {
    weight: 2,
    act({ fleet, time, aside }, random) {
      const seconds = random.chance(0.2) ? random.between(300, 1800) : random.between(5, 200);
      aside(fleet.step(time.step(seconds * 1000)));
      return `the clock stepped ${seconds} s`;
    },
  },
};

/** Done at its places in the script, not by chance. */
export const databaseRestart: Action = {
  weight: 0,
  act(stage, random) {
    const { postgres, trouble } = stage;
    if (!postgres || trouble.isDatabaseDown) return null;
    const mode = random.chance(0.5) ? 'immediate' : 'fast';
    trouble.isDatabaseDown = true;
    trouble.restarts.push(Date.now());
    stage.aside(postgres.restart(mode).finally(() => (trouble.isDatabaseDown = false)));
    return `PostgreSQL restarts (${mode})`;
  },
};
