// The App: what it may do, what it is told, and how GitHub answers it.
import { isLimit, type Json } from '../ask.ts';
import { context, type Steps } from '../stage.ts';
import { claim, needed, said } from '../verdict.ts';

/** So many statuses, so many milliseconds apart: 180 in a minute, as many as GitHub's points allow. */
const paced = { statuses: 300, every: 333 };

export const app: Steps = {
  app: {
    proves: 'An App that is created from the manifest has all permissions and events that it asks for.',
    otherwise: 'The App that the setup page creates does not work until somebody corrects it.',
    async run({ parts }) {
      const { permissions = {}, events = [] } = needed(await parts.app('GET', '/app'), 200);
      for (const [name, level] of Object.entries(parts.wanted.default_permissions))
        claim(permissions[name] === level, `${name} is ${permissions[name] ?? 'missing'}, not ${level}.`);
      for (const event of parts.wanted.default_events)
        claim(events.includes(event), `The event ${event} is missing.`);
    },
  },
  hint: {
    proves: 'A token without a permission is refused, and GitHub names the permission.',
    otherwise: 'Holdfast cannot say which permission somebody has to grant.',
    async run({ parts, repository }) {
      const { sha } = needed(await parts.owner('GET', `${repository}/branches/main`), 200).commit;
      const weak = await parts.botWith({ metadata: 'read' });
      const refused = await weak('POST', `${repository}/statuses/${sha}`, { state: 'success', context });
      claim(refused.status === 403, `A token that may only read metadata: ${said(refused)}`);
      const hint = refused.headers['x-accepted-github-permissions'] ?? '';
      claim(hint.includes('statuses=write'), `The header names “${hint}”, not statuses=write.`);
    },
  },
  seconds: {
    proves: 'Times of statuses are whole seconds in UTC.',
    otherwise: 'Holdfast orders statuses of the same second wrongly.',
    async run(stage) {
      const { created_at: at } = await stage.post((await stage.open('seconds')).sha, 'pending');
      claim(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(String(at)), `A status was created at ${at}.`);
    },
  },
  label: {
    proves: 'The App is told when a pull request gets a label.',
    otherwise: 'A label lets a pull request through only at the hourly check.',
    async run(stage) {
      const { number, nodeId } = await stage.open('label');
      const path = `${stage.repository}/issues/${number}/labels`;
      needed(await stage.parts.owner('POST', path, { labels: ['hotfix'] }), 200);
      const isIt = ({ pull_request: its, label }: Json) =>
        its?.node_id === nodeId && label?.name === 'hotfix';
      claim((await stage.delivered('pull_request', 'labeled', isIt)) !== null, 'No webhook told of it.');
    },
  },
  comment: {
    proves: 'The App is told of a comment on a pull request, and can answer it.',
    otherwise: 'Commands in comments have no effect.',
    async run(stage) {
      const { owner, bot } = stage.parts;
      const path = `${stage.repository}/issues/${(await stage.open('comment')).number}/comments`;
      const { id } = needed(await owner('POST', path, { body: '/holdfast status' }), 201);
      const payload = await stage.delivered('issue_comment', 'created', ({ comment }) => comment?.id === id);
      claim(payload !== null, 'No webhook told of it.');
      claim(Boolean(payload.issue?.pull_request), 'The webhook does not say that it is a pull request.');
      const answered = await bot('POST', path, { body: 'Nothing is frozen.' });
      claim(answered.status === 201, said(answered));
    },
  },
  pace: {
    proves: 'GitHub takes 180 statuses in a minute, or refuses in words that Holdfast knows.',
    otherwise: 'GitHub blocks the App for a time when many pull requests are frozen.',
    costs: 'takes two minutes, and GitHub may refuse statuses of the App for some minutes more',
    async run(stage) {
      const { impatientBot, world, tape, stop } = stage.parts;
      const path = `${stage.repository}/statuses/${(await stage.open('pace')).sha}`;
      for (let number = 1; number <= paced.statuses; number++) {
        const answered = await impatientBot('POST', path, { state: 'pending', context: `pace ${number}` });
        claim(
          answered.status === 201 || isLimit(answered),
          `After ${number - 1} statuses: ${said(answered)}`,
        );
        if (answered.status !== 201) return;
        if (number < paced.statuses) tape.pop();
        await world.delay(paced.every, stop);
      }
    },
  },
};
