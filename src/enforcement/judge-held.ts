import type { HeldPullRequest, ReasonNotHeld } from '../reconcile/held-pull-requests.ts';
import type { Finding } from './finding.ts';
import type { Place } from './remedies.ts';

const mostNamed = 20;

/** Whether what freezes should hold is known to be held. @param held what they hold or should hold. */
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
      remedy: `Require ${context} from Holdfast on their base branches at ${web}/${repository}/settings/rules; GitHub is asked again within a minute.`,
    });
  }
  if (refused.length > 0) {
    findings.push({
      check: 'held',
      state: 'failed',
      message: `GitHub refused our status on pull requests that freezes should hold: ${list(refused)}.`,
      remedy: 'Push a new commit to each: GitHub takes 1,000 statuses of one name on a commit.',
    });
  }
  if (contested.length > 0) {
    findings.push({
      check: 'held',
      state: 'failed',
      message: `Somebody keeps overwriting our status on pull requests that freezes should hold: ${list(contested)}.`,
      remedy: `See who in the audit log (freeze_status.overwritten), and choose Holdfast as the source of ${context} at ${web}/${repository}/settings/rules.`,
    });
  }
  if (waiting.length > 0) {
    findings.push({
      check: 'held',
      state: 'warning',
      message: `Statuses that hold wait to be written on pull requests: ${list(waiting)}.`,
      remedy: 'Wait: at most STATUS_WRITES_PER_MINUTE of them are written in a minute.',
    });
  }
  if (held.length > 0 && findings.length === 0) {
    const message = `Every pull request that freezes should hold is held, as far as Holdfast knows: ${held.length}.`;
    findings.push({ check: 'held', state: 'ok', message, remedy: null });
  }
  return findings;
}

function list(pullRequests: HeldPullRequest[]): string {
  const names = pullRequests.slice(0, mostNamed).map(({ number }) => `#${number}`);
  const more = pullRequests.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
