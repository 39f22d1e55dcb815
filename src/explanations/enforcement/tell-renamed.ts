import { defineTask } from '../../database/queue/define-task.ts';
import type { Tx } from '../../database/database.ts';
import { jobs } from '../../database/queue/jobs.ts';
import type { Deps } from '../../deps.ts';
import { ourselves } from '../../events/actor.ts';
import { appendEvent, placeOf } from '../../events/append-event.ts';
import type { AuditEvent } from '../../events/audit-event.ts';
import { freezeInEvent, holdsMerges, type StoredFreeze } from '../../freezes/freeze.ts';
import { namedBranches } from '../../freezes/judge-freeze.ts';
import { listFreezes } from '../../freezes/list-freezes.ts';
import { notEnforced } from '../../freezes/save-freeze.ts';
import { isGitHubStatus } from '../../github/github-error.ts';
import type { GitHubClient } from '../../github/github-app.ts';
import { fullName, lockRepository } from '../../installations/find-repository.ts';
import { findObservable, observe, type ObservedRepository } from '../../statuses/observe.ts';
import { nowOf } from '../../time/clock.ts';
import { whyNever } from './judge-branch.ts';

/** A branch that may have been renamed. @property to its new name, if the event gave it. */
type Rename = { branch: string; to: string | null };

/**
 * Tells of freezes that name a branch which has another name now: GitHub moves the pull requests to that one, and the
 * freezes block none of them any more. Each is told once, and so is each plan.
 * @throws NotNow, or GitHub's error while it cannot answer. The worker tries again.
 */
async function tellRenamed(deps: Deps, repositoryId: bigint, { branch, to }: Rename): Promise<void> {
  const repository = await findObservable(deps, repositoryId);
  const freezes = (await listFreezes(deps.sql, repository, nowOf(deps.clock))).filter(holdsMerges);
  const naming = freezes.filter((freeze) => namedBranches(freeze).includes(branch));
  if (naming.length === 0) return;
  const { id, permissions } = repository.installation;
  const client = await observe(deps, repository, () => deps.github.asInstallation(id, permissions));
  const shown = (await observe(deps, repository, () => nameOfBranch(client, repository, branch))) ?? to;
  // It is there, or it was deleted: then nothing merges into it.
  if (shown === null || shown === branch) return;
  const lost = naming.filter((freeze) => !namedBranches(freeze).includes(shown));
  const firsts = new Map(lost.toReversed().map((freeze) => [freeze.planId ?? freeze.id, freeze]));
  for (const freeze of firsts.values()) await record(deps, repository, freeze, branch, shown);
}

/** The name of the branch that GitHub shows for a name, which may be a former one; null for none. */
async function nameOfBranch(
  { rest }: GitHubClient,
  { account, name }: ObservedRepository,
  branch: string,
): Promise<string | null> {
  try {
    return (await rest.repos.getBranch({ owner: account.login, repo: name, branch })).data.name;
  } catch (error) {
    if (isGitHubStatus(error, 404)) return null;
    throw error;
  }
}

async function record(
  deps: Deps,
  repository: ObservedRepository,
  freeze: StoredFreeze,
  branch: string,
  renamedTo: string,
): Promise<void> {
  const why = whyNever({ leadsTo: renamedTo, upgrade: null }, { repository: fullName(repository) });
  const about = freezeInEvent(freeze);
  const { type, metadata } = notEnforced(about, [{ branch, why }], deps.config.statusContext);
  const event = { type, metadata: { ...metadata, renamed_to: renamedTo } } satisfies AuditEvent;
  await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    if (await isRecorded(tx, repository.id, freeze, renamedTo)) return;
    await appendEvent(tx, placeOf(repository), event, ourselves, nowOf(deps.clock));
    const told = { repository: fullName(repository), freeze: freeze.id, branch, renamedTo };
    deps.log.warn(told, 'a freeze names a branch that was renamed');
  });
}

/** Two events tell of one rename, and webhooks may repeat. */
async function isRecorded(
  tx: Tx,
  repositoryId: bigint,
  { id, planId }: StoredFreeze,
  renamedTo: string,
): Promise<boolean> {
  const [path, equals] = planId === undefined ? ['scheduled_freeze_id', id] : ['freeze_plan_id', planId];
  const AND = [
    { metadata: { path: [path], equals } },
    { metadata: { path: ['renamed_to'], equals: renamedTo } },
  ];
  return (await tx.auditEvent.count({ where: { repositoryId, type: 'freeze.not_enforced', AND } })) > 0;
}

export const tellRenamedTask = defineTask(jobs.tellRenamed, (deps: Deps, { repositoryId, branch, to }) =>
  tellRenamed(deps, BigInt(repositoryId), { branch, to }),
);
