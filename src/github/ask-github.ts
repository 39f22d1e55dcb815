import type { Deps } from '../deps.ts';
import { Refusal, unavailable } from '../errors.ts';
import { classifyGitHubError } from './github-error.ts';

/**
 * Asks GitHub on behalf of a waiting client. A clear answer passes through, returned or thrown. If GitHub cannot answer
 * now, the client gets an error that says when to try again.
 * @param about completes the sentence "GitHub could not say …".
 * @throws Refusal unavailable (503 with `Retry-After`); too-many-requests if strangers asked too much.
 */
export async function askGitHub<Answer>(
  deps: Pick<Deps, 'clock' | 'log' | 'beforeQuestion'>,
  about: string,
  question: () => Promise<Answer>,
): Promise<Answer> {
  await deps.beforeQuestion?.();
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
