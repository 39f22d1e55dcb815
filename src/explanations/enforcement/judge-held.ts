import type { HeldPullRequest, ReasonNotHeld } from '../../statuses/held-pull-requests.ts';
import type { Finding } from './finding.ts';
import type { Place } from './remedies.ts';

const mostNamed = 20;

/** Whether everything that freezes should hold is known to be held. @param held what they hold or should hold. */
export function judgeHeld(held: HeldPullRequest[], { web, repository, context }: Place): Finding[] {
  const of = (reason: ReasonNotHeld) => held.filter(({ notHeld }) => notHeld === reason);
  const [leaking, refused, contested, waiting] = [
    of('leaking'),
    of('refused'),
    of('contested'),
    of('waiting'),
  ];
  const findings: Finding[] = [];
  if (leaking.length > 0) {
    findings.push({
      check: 'leaking',
      state: 'failed',
      message: `GitHub would merge pull requests that freezes should hold: ${list(leaking)}.`,
      remedy: `Require ${context} from Holdfast on their base branches at ${web}/${repository}/settings/rules. Holdfast asks GitHub again within a minute.`,
    });
  }
  if (refused.length > 0) {
    findings.push({
      check: 'held',
      state: 'failed',
      message: `GitHub refused the Holdfast status on pull requests that freezes should hold: ${list(refused)}.`,
      remedy:
        'Push a new commit to each. GitHub accepts at most 1,000 statuses with the same name on a commit.',
    });
  }
  if (contested.length > 0) {
    findings.push({
      check: 'held',
      state: 'failed',
      message: `Somebody keeps overwriting the Holdfast status on pull requests that freezes should hold: ${list(contested)}.`,
      remedy: `Find out who in the audit log (freeze_status.overwritten), and choose Holdfast as the source of ${context} at ${web}/${repository}/settings/rules.`,
    });
  }
  if (waiting.length > 0) {
    findings.push({
      check: 'held',
      state: 'warning',
      message: `These pull requests are waiting for their statuses: ${list(waiting)}.`,
      remedy: 'Wait. Holdfast writes at most STATUS_WRITES_PER_MINUTE statuses in a minute.',
    });
  }
  if (held.length > 0 && findings.length === 0) {
    const message = `Every pull request that freezes should hold is known to be held: ${held.length}.`;
    findings.push({ check: 'held', state: 'ok', message, remedy: null });
  }
  return findings;
}

function list(pullRequests: HeldPullRequest[]): string {
  const names = pullRequests.slice(0, mostNamed).map(({ number }) => `#${number}`);
  const more = pullRequests.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
