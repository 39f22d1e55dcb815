import type { Deps } from '../deps.ts';
import type { GitHubClient } from '../github/github-app.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { pauseIfLimited } from '../github/pause.ts';
import { type Fact, known, notKnown } from '../github/pull-requests/fact.ts';
import type { FoundRepository } from '../installations/find-repository.ts';

/** What questions about one repository need. */
export type Asking = {
  deps: Pick<Deps, 'db' | 'github' | 'clock' | 'config' | 'log'>;
  repository: FoundRepository;
  /** Ends them all. */
  signal: AbortSignal;
  /** Why the installation is not to be asked, if so. */
  spare?: string | null;
};

/** As the App itself, or as its installation on the repository. */
type As = 'app' | 'installation';

/**
 * Asks GitHub one thing, and never throws: what it does not answer is not known, with the reason. Nothing is asked
 * of an installation that is suspended, is to be spared, or that GitHub told to wait.
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

/** Tokens are fetched without the signal, so it is waited for as well. */
const rejectedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

function whyNot(error: unknown, now: number): string {
  const failure = classifyGitHubError(error, now);
  switch (failure.kind) {
    case 'forbidden':
      return `Holdfast may not read it (GitHub says "${failure.message.split(' - http')[0]}")`;
    case 'absent':
      return 'GitHub shows none to Holdfast';
    case 'limited':
      return `GitHub's rate limit is used up until ${new Date(failure.retryAt).toISOString()}`;
    default:
      return 'GitHub did not answer';
  }
}
