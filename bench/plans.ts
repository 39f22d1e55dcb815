// A plan over every repository of a large owner: how long the API takes to make, change, watch and delete it.
import pg from 'pg';
import type { Bench } from './bench.ts';
import { alone, atMost, compare, type Figure, upTo } from './figure.ts';
import { makeKey, startGitHub, startService } from './service.ts';
import { median } from './statistics.ts';
import { fill } from './store/fill.ts';

const size = (repositories: number) => ({ repositories, freezesEach: 0, scopesEach: 0, headsEach: 2 });

/** Ahead, so that nothing is looked at: GitHub does not know the repositories that the database is filled with. */
const plan = {
  name: 'Year end',
  reason: 'Books are closed',
  repositories: { include: ['*'], exclude: ['sandbox-*'] },
  start: '2097-12-24T18:00:00',
  end: '2098-01-02T08:00:00',
  timezone: 'Europe/Paris',
  recurrence: { rule: 'FREQ=YEARLY' },
};

/** As if the freezes had begun and every pull request were held. */
const begin = `
  UPDATE freezes SET starts_at = now() - interval '1 minute' WHERE plan_id IS NOT NULL;
  UPDATE open_pull_requests p SET held_by = ARRAY[f.id] FROM freezes f WHERE f.repository_id = p.repository_id;
  ANALYZE`;

/** The least that a progress costs: each repository's name, and each pull request with its freeze and its status. */
const names = {
  name: 'names',
  text: `SELECT json_agg(name) FROM (SELECT name FROM repositories ORDER BY name_key) AS r`,
};
const held = (planId: string) => ({
  name: 'held',
  text: `
    SELECT count(*), count(*) FILTER (WHERE head.written_state = 'pending') AS held
    FROM open_pull_requests open
      JOIN freezes f ON f.repository_id = open.repository_id AND f.id = ANY (open.held_by)
      JOIN head_statuses head ON head.repository_id = open.repository_id AND head.sha = open.head_sha
    WHERE f.plan_id = $1`,
  values: [planId],
});

export const benchPlans: Bench = {
  name: 'plans',
  title: 'A plan over many repositories',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const count = isQuick ? 200 : 10_000;
    const { github, token } = await startGitHub();
    github.addRepository('acme/web');
    const connectionString = await postgres.createDatabase('plans');
    const service = await startService(github, { connectionString });
    const database = new pg.Client({ connectionString });
    const figures: Figure[] = [];
    const took = async (deed: () => Promise<unknown>): Promise<number> => {
      const began = performance.now();
      await deed();
      return performance.now() - began;
    };
    const time = async <Result>(name: string, most: number, rounds: number, deed: () => Promise<Result>) => {
      const times: number[] = [];
      let result!: Result;
      for (let round = 0; round < rounds; round++)
        times.push(await took(async () => (result = await deed())));
      figures.push(alone('plans', name, 'ms', median(times), upTo(most)));
      return result;
    };
    const timeProgress = async (planId: string, deed: () => Promise<unknown>) => {
      const rounds: { ours: number; floor: number }[] = [];
      for (let round = 0; round < 9; round++) {
        const floor = await took(async () => {
          await database.query(names);
          await database.query(held(planId));
        });
        rounds.push({ floor, ours: await took(deed) });
      }
      const [ours, floor] = (['ours', 'floor'] as const).map((side) =>
        median(rounds.map((round) => round[side])),
      );
      figures.push(compare('plans', 'enforcement', 'ms', ours!, floor!, atMost(2)));
    };
    try {
      await database.connect();
      github.install('acme');
      const key = await makeKey(service, token, 'admin');
      await fill(connectionString, size(count));
      const path = '/v1/freeze_plans/acme';
      const call = (method: string, to: string, body?: object) => service.call(method, to, key, body);
      const { body } = await time('make', 5000, 1, () => call('POST', path, plan));
      const own = `${path}/${body.id}`;
      await time('change', 5000, 1, () => call('PATCH', own, { end: '2098-01-03T08:00:00' }));
      await time('show', 1000, 5, () => call('GET', own));
      await database.query(begin);
      await timeProgress(body.id, () => call('GET', `${own}/enforcement`));
      await time('delete', 5000, 1, () => call('POST', `${own}/delete`, { delete_reason: 'Done' }));
    } finally {
      await database.end();
      await service.stop();
      await github.close();
    }
    const notes = [
      `A plan over ${count.toLocaleString('en-US')} repositories with two open pull requests each, on PostgreSQL: time until the API has answered. What follows, the looks at GitHub, is not in it.`,
      'The floor of the enforcement is two bare statements: the names of all repositories, and all pull requests joined with their freezes and statuses.',
    ];
    return { figures, notes };
  },
};
