import type { Deps } from '../deps.ts';
import { Refusal, unavailable } from '../errors.ts';
import { classifyGitHubError } from './github-error.ts';
import { takeOne } from './limits/minute-counts.ts';

/** Whose rate limit a question uses: the caller's own token, that of an installation (its id), or the App's. */
type Payer = 'caller' | 'App' | bigint;

/** The share of an installation's hourly limit that is kept for its own work, so that freezes hold. */
const reserve = 1 / 4;

/**
 * Asks GitHub on behalf of a waiting client. A clear answer passes through, returned or thrown. If GitHub cannot answer
 * now, the client gets an error that says when to try again.
 * @param about completes the sentence "GitHub could not say …".
 * @throws Refusal unavailable (503 with `Retry-After`), also if too little of the installation's hour is left;
 *   too-many-requests if this caller asked too much.
 */
export async function askGitHub<Answer>(
  deps: Pick<Deps, 'clock' | 'log' | 'github' | 'questions'>,
  payer: Payer,
  about: string,
  question: () => Promise<Answer>,
): Promise<Answer> {
  if (typeof payer === 'bigint') {
    await deps.questions?.beforeInstallation();
    assertNotReserved(deps, payer, about);
  }
  try {
    return await question();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const failure = classifyGitHubError(error, deps.clock.now());
    if (failure.kind === 'limited') {
      const seconds = Math.max(1, Math.ceil((failure.retryAt - deps.clock.now()) / 1000));
      throw unavailable(
        `GitHub's rate limit is used up, so it could not say ${about}. Try again then.`,
        seconds,
      );
    }
    deps.log.warn({ err: error }, `GitHub could not say ${about}`);
    throw unavailable(`GitHub could not say ${about}. Nothing was changed. Try again in a moment.`);
  }
}

/** When enough of the installation's hour is left again for questions on behalf of clients; null if it is now. */
export const reservedUntil = ({ github }: Pick<Deps, 'github'>, installationId: bigint): number | null =>
  github.budgets.scarceUntil(installationId, reserve);

/**
 * Whether a question that can wait may be asked now: enough is left of the installation's hour, and of a count for
 * each minute. Counts it.
 * @param reserve the share of the hour that is kept for holding pull requests.
 */
export async function mayAskNow(
  deps: Pick<Deps, 'db' | 'clock' | 'github'>,
  installationId: bigint,
  reserve: number,
  count: { name: string; perMinute: number },
): Promise<'yes' | 'reserved' | 'too many'> {
  if (deps.github.budgets.left(installationId) < reserve) return 'reserved';
  return (await takeOne(deps, count.name, count.perMinute)) ? 'yes' : 'too many';
}

function assertNotReserved(
  deps: Pick<Deps, 'clock' | 'github'>,
  installationId: bigint,
  about: string,
): void {
  const until = reservedUntil(deps, installationId);
  if (until === null) return;
  throw unavailable(
    `Holdfast reserves the rest of this hour’s GitHub rate limit for freezes, so GitHub could not say ${about}. Try again later, or use an application key, which needs no such answer.`,
    Math.ceil((until - deps.clock.now()) / 1000),
  );
}
