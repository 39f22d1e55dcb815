import type { Deps } from '../../src/deps.ts';
import { identitiesPerMinute } from '../../src/github/limits/caller-limits.ts';

type Service = { app: { deps: Pick<Deps, 'db'> }; clock: { now(): number } };

/** Leaves nobody a question about whose token one is in the present minute, as GitHub's 600 refusals would. */
export async function useUpIdentities({ app, clock }: Service): Promise<void> {
  const counted = { minute: new Date(clock.now() - (clock.now() % 60_000)), count: identitiesPerMinute.all };
  const name = 'identities all';
  await app.deps.db.minuteCount.upsert({ where: { name }, create: { name, ...counted }, update: counted });
}
