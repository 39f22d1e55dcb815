// The addresses of the service, as it routes them.
import { pino } from 'pino';
import type { JobQueue } from '../../src/database/queue/queue.ts';
import type { Deps } from '../../src/deps.ts';
import { createApi } from '../../src/server/service.ts';
import { systemClock } from '../../src/time/clock.ts';

const log = pino({ level: 'silent' });
const config = { publicUrl: 'https://holdfast.example', githubApiUrl: 'https://api.github.com' };

/** Every route of the service. */
export const { routes } = createApi({ clock: systemClock, log, config } as Deps, {} as JobQueue);

/** The paths that answer GET, each once. */
export const pathsToOpen = [
  ...new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path)),
];

/** The address of a page of acme/web. @param ids the plan and the freeze that it is about. */
export const addressIn = (path: string, ids: { plan: string; freeze: string }): string =>
  path
    .replace(/progress$/, `progress?plan=${ids.plan}`)
    .replace(':owner', 'acme')
    .replace(':repository', 'web')
    .replace(':number', '1')
    .replace(':plan', ids.plan)
    .replace(':sha', 'a'.repeat(40))
    .replace(/:\w+/g, ids.freeze);
