import type { Deps } from '../../deps.ts';
import type { GitHubClient } from '../../github/github-app.ts';
import { classifyGitHubError } from '../../github/github-error.ts';
import { pauseIfLimited } from '../../github/rate-limits.ts';
import { type Fact, known, notKnown } from '../../github/pull-requests/fact.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';

/** What a question about one repository needs. */
export type Asking = {
  deps: Pick<Deps, 'db' | 'github' | 'clock' | 'config' | 'log'>;
  repository: FoundRepository;
  /** Aborts all questions. */
  signal: AbortSignal;
  /** Why we must not ask the installation, if so. */
  spare?: string | null;
};

/** Whether to ask as the App or as its installation. */
type As = 'app' | 'installation';

/**
 * Asks GitHub one question and never throws: if GitHub does not answer, the fact is unknown, with the reason. Asks
 * nothing for an installation that is suspended, spared, or limited by GitHub.
 */
export async function ask<Answer>(
  { deps, repository, signal, spare }: Asking,
  as: As,
  question: (client: GitHubClient, request: { signal: AbortSignal }) => Promise<Answer>,
): Promise<Fact<Answer>> {
  const { installation } = repository;
  const { pausedUntil, suspendedAt } = installation;
  if (as === 'installation' && suspendedAt) return notKnown('the installation is suspended');
  if (as === 'installation' && pausedUntil && pausedUntil.getTime() > deps.clock.now()) {
    return notKnown(`GitHub's rate limit is used up until ${pausedUntil.toISOString()}`);
  }
  if (as === 'installation' && spare) return notKnown(spare);
  try {
    signal.throwIfAborted();
    const answering = (async () => {
      const client = await (as === 'app' ? deps.github.asApp() : deps.github.asInstallation(installation.id));
      return question(client, { signal });
    })();
    return known(await Promise.race([answering, rejectedBy(signal)]));
  } catch (error) {
    if (as === 'installation') await pauseIfLimited(deps, installation.id, error);
    return notKnown(whyNot(error, deps.clock.now()));
  }
}

/** Fetching a token ignores the signal, so we race against it. */
const rejectedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

function whyNot(error: unknown, now: number): string {
  const failure = classifyGitHubError(error, now);
  switch (failure.kind) {
    case 'forbidden':
      return `Holdfast does not have permission to read it (GitHub says "${failure.message.split(' - http')[0]}")`;
    case 'absent':
      return 'GitHub does not show it to Holdfast';
    case 'limited':
      return `GitHub's rate limit is used up until ${new Date(failure.retryAt).toISOString()}`;
    default:
      return 'GitHub did not answer';
  }
}
