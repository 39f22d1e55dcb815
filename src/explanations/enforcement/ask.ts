import type { Deps } from '../../deps.ts';
import type { GitHubClient } from '../../github/github-app.ts';
import { classifyGitHubError, isKeyRefused, wordsOfGitHub } from '../../github/github-error.ts';
import { pauseIfLimited } from '../../github/ask-github.ts';
import { type Fact, known, unknownFact } from '../../github/pull-requests/pull-request.ts';
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

/** What a request about the repository names. Requests of the App take only `request`. */
type Named = { owner: string; repo: string; request: { signal: AbortSignal } };

/**
 * Asks GitHub one question and never throws: if GitHub does not answer, the fact is unknown, with the reason. Asks
 * nothing for an installation that is suspended, spared, or limited by GitHub.
 * @param as the App, its installation, or the second App on the repository.
 */
export async function askInTime<Answer>(
  { deps, repository, signal, spare }: Asking,
  as: 'app' | 'installation' | 'lock',
  question: (client: GitHubClient, named: Named) => Promise<Answer>,
): Promise<Fact<Answer>> {
  const { installation, account, name: repo } = repository;
  const isForInstallation = as === 'installation';
  if (isForInstallation) {
    const { pausedUntil, suspendedAt } = installation;
    if (suspendedAt) return unknownFact('the installation is suspended');
    if (pausedUntil && pausedUntil.getTime() > deps.clock.now()) return unknownFact(usedUpUntil(pausedUntil));
    if (spare) return unknownFact(spare);
  }
  try {
    signal.throwIfAborted();
    const put = (client: GitHubClient) =>
      question(client, { owner: account.login, repo, request: { signal } });
    const answering = {
      app: () => deps.github.asApp().then(put),
      installation: () => deps.github.asInstallation(installation.id).then(put),
      lock: () => deps.github.lock.asLock(account.login, repo, put),
    }[as]();
    return known(await Promise.race([answering, rejectedBy(signal)]));
  } catch (error) {
    if (isForInstallation) await pauseIfLimited(deps, installation.id, error);
    return unknownFact(whyNot(error, deps));
  }
}

const usedUpUntil = (until: Date): string => `GitHub's rate limit is used up until ${until.toISOString()}`;

/** Fetching a token ignores the signal, so we race against it. */
export const rejectedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

function whyNot(error: unknown, { clock, github }: Asking['deps']): string {
  const failure = classifyGitHubError(error, clock.now());
  if (isKeyRefused(error)) {
    const since = github.keyRefusedSince();
    return `GitHub refuses the App's key${since ? ` since ${since.toISOString()}` : ''}`;
  }
  switch (failure.kind) {
    case 'forbidden': {
      const said = `(GitHub says "${wordsOfGitHub(failure.message)}")`;
      if (failure.upgrade) return `the plan of the account does not have it ${said}`;
      const which = failure.permission ? `, which takes ${failure.permission}` : '';
      return `Holdfast does not have permission to read it${which} ${said}`;
    }
    case 'absent':
      return 'GitHub does not show it to Holdfast';
    case 'limited':
      return usedUpUntil(new Date(failure.retryAt));
    default:
      return 'GitHub did not answer';
  }
}
