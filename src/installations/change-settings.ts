import { isDeepStrictEqual } from 'node:util';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { assertWritable, type FoundRepository } from './find-repository.ts';
import { lockRepository } from './lock-repository.ts';
import {
  columnsOf,
  presentSettings,
  readSettings,
  type Settings,
  type SettingsChange,
  settingsOf,
} from './settings.ts';

/**
 * Changes settings of a repository. A change without effect is no event.
 * @throws Refusal conflict if the repository cannot be written to.
 */
export async function changeSettings(
  deps: Pick<Deps, 'db' | 'clock'>,
  actor: Actor,
  repository: FoundRepository,
  change: SettingsChange,
): Promise<Settings> {
  assertWritable(repository);
  const { id } = repository;
  return deps.db.$transaction(async (tx) => {
    // The lock on the row orders concurrent changes, so that the log shows the real effect of each.
    await lockRepository(tx, id);
    const before = await readSettings(tx, id);
    const after = settingsOf(await tx.repository.update({ where: { id }, data: columnsOf(change) }));
    if (isDeepStrictEqual(before, after)) return after;
    const metadata = { settings_before: presentSettings(before), settings_after: presentSettings(after) };
    const event = { type: 'repository_settings.update', metadata } as const;
    await appendEvent(tx, placeOf(repository), event, actor, nowOf(deps.clock));
    return after;
  });
}
