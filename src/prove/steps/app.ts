// The App: what it may do, what it is told, and how GitHub answers it.
import { type Exchange, isLimit, type ProveJson } from '../ask.ts';
import { context, type Asks } from '../stage.ts';
import { claimProved, claimed, needed } from '../verdict.ts';

/** So many statuses, so many milliseconds apart: 180 in a minute, as many as GitHub's points allow. */
const paced = { statuses: 300, every: 333 };

/** A limit: GitHub has several, in several words. */
function inWords({ status, answer, headers }: Exchange): string {
  const wait = headers['retry-after']
    ? `to wait ${headers['retry-after']} seconds`
    : 'for no time in particular';
  return `with ${status} “${answer?.message}”, which asks ${wait}.`;
}

export const app: Asks = {
  async app({ parts }) {
    const { permissions = {}, events = [] } = needed(await parts.app('GET', '/app'), 200);
    for (const [name, level] of Object.entries(parts.wanted.default_permissions))
      claimProved(permissions[name] === level, `${name} is ${permissions[name] ?? 'missing'}, not ${level}.`);
    for (const event of parts.wanted.default_events)
      claimProved(events.includes(event), `The event ${event} is missing.`);
  },
  async hint(stage) {
    const path = `${stage.repository}/statuses/${await stage.tip(stage.repository)}`;
    const refused = await stage.parts.weakBot('POST', path, { state: 'success', context });
    claimed(refused, 403);
    const hint = refused.headers['x-accepted-github-permissions'] ?? '';
    claimProved(hint.includes('statuses=write'), `The header names “${hint}”, not statuses=write.`);
  },
  async seconds(stage) {
    const { created_at: at } = await stage.post((await stage.open('seconds')).sha, 'pending');
    claimProved(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(String(at)), `A status was created at ${at}.`);
  },
  async label(stage) {
    const { number, nodeId } = await stage.open('label');
    await stage.sure('POST', `${stage.repository}/issues/${number}/labels`, { labels: ['hotfix'] });
    const isIt = ({ pull_request: its, label }: ProveJson) =>
      its?.node_id === nodeId && label?.name === 'hotfix';
    await stage.told('pull_request', 'labeled', isIt);
  },
  async comment(stage) {
    const path = `${stage.repository}/issues/${(await stage.open('comment')).number}/comments`;
    const { id } = await stage.sure('POST', path, { body: '/holdfast status' });
    const { issue } = await stage.told('issue_comment', 'created', ({ comment }) => comment?.id === id);
    claimProved(issue?.pull_request, 'The webhook does not say that it is a pull request.');
    claimed(await stage.parts.bot('POST', path, { body: 'Nothing is frozen.' }), 201);
  },
  async pace(stage) {
    const { impatientBot, world, tape, stop } = stage.parts;
    const path = `${stage.repository}/statuses/${(await stage.open('pace')).sha}`;
    for (let number = 1; number <= paced.statuses; number++) {
      const answered = await impatientBot('POST', path, { state: 'pending', context: `pace ${number}` });
      if (isLimit(answered)) return `Status ${number} was refused ${inWords(answered)}`;
      claimed(answered, 201);
      if (number < paced.statuses) tape.pop();
      await world.delay(paced.every, stop);
    }
    return `GitHub refused none of ${paced.statuses} statuses.`;
  },
};
