import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { type ExemptionRecord, findExemption } from '../../exemptions/exemption-store.ts';
import { repositoriesOfIds } from '../../installations/repository-rows.ts';
import { readSettings } from '../../installations/settings.ts';
import { actorName } from '../../events/actor.ts';
import { describeInstant } from '../../time/local-time.ts';
import { mayAnnounce, noteAnnounced } from './answer-store.ts';
import { asCode, howToDecide, requestMark } from './answer-text.ts';
import { assertNotPaused, mayComment, postOnce } from './write-answer.ts';
import { zoneOfRepository } from './zone-of-repository.ts';
import { defineTask } from '../../queue/define-task.ts';
import { jobs } from '../../queue/jobs.ts';

/**
 * Tells the conversation of a request that was made elsewhere, once, so that an admin can approve it there. Does nothing
 * where comments are off, the request is over, or too much was written within the hour.
 * @throws like `writeAnswer`.
 */
export async function announceRequest(deps: Deps, repositoryId: bigint, id: string): Promise<void> {
  const [repository] = await repositoriesOfIds(deps.sql, [repositoryId]);
  if (!repository || repository.installation.suspendedAt || !mayComment(repository)) return;
  const { commentCommands } = await readSettings(deps.db, repositoryId);
  const request = await findExemption(deps.db, repositoryId, id);
  if (!commentCommands || !request || !isToAnnounce(request)) return;
  await assertNotPaused(deps, repository);
  if (!(await mayAnnounce(deps.db, repositoryId, nowOf(deps.clock)))) return;
  const { pullRequest: number, requestedAt: since } = request;
  const text = announcement(request, await zoneOfRepository(deps.db, repositoryId), commentCommands === true);
  const postedAt = await postOnce(deps, { repository, number, since, mark: requestMark(id) }, text, true);
  if (postedAt) await noteAnnounced(deps.db, id, postedAt);
}

const isToAnnounce = ({ state, endedAt, announcedAt }: ExemptionRecord): boolean =>
  state === 'requested' && endedAt === null && announcedAt === null;

/**
 * Tells a conversation of a request. Says no reason: it is not public until an admin approves it.
 * @param isDecidedHere whether admins can decide by comments.
 */
function announcement(
  { requestedBy, headSha, anyHead, expiresAt }: ExemptionRecord,
  zone: string,
  isDecidedHere: boolean,
): string {
  const what = anyHead ? '**all commits**' : `the commit ${headSha.slice(0, 7)}`;
  const head = `**Exemption requested** by ${asCode(actorName(requestedBy))} for ${what} until ${describeInstant(expiresAt, zone)}.`;
  const decide =
    anyHead || !isDecidedHere ? 'An admin of the repository can decide on the page.' : howToDecide(headSha);
  return `${head} ${decide}${anyHead ? '' : ' A push ends the request.'}`;
}

export const announceRequestTask = defineTask(jobs.announceRequest, (deps, { repositoryId, id }) =>
  announceRequest(deps, BigInt(repositoryId), id),
);
