import { accountJson } from '../json/account-json.ts';
import type { World } from '../state/world.ts';
import type { PullRequestEvents } from './pull-request-events.ts';

/** Threads of comments on the changes of a pull request. */
export function reviewThreads(world: World, events: PullRequestEvents) {
  function setResolved(fullName: string, number: number, id: number, isResolved: boolean) {
    const pr = world.pullRequest(fullName, number);
    const thread = pr.threads.find((each) => each.id === id);
    if (!thread) throw new Error(`No thread ${id} on #${number}`);
    if (thread.isResolved === isResolved) return;
    thread.isResolved = isResolved;
    const payload = { thread: { node_id: `PRRT_${id}`, comments: [{ body: thread.body }] } };
    events.send('pull_request_review_thread', pr, isResolved ? 'resolved' : 'unresolved', payload, pr.author);
  }

  return {
    /** Starts a thread and returns its id. */
    startThread(fullName: string, number: number, { by, body }: { by: string; body: string }) {
      const pr = world.pullRequest(fullName, number);
      const id = world.ids.next('thread', 4_000_000);
      const author = world.account(by);
      pr.threads.push({ id, body, isResolved: false });
      const comment = { id, body, user: accountJson(world, author) };
      events.send('pull_request_review_comment', pr, 'created', { comment }, author);
      return id;
    },
    resolveThread: (fullName: string, number: number, id: number) => setResolved(fullName, number, id, true),
    unresolveThread: (fullName: string, number: number, id: number) =>
      setResolved(fullName, number, id, false),
  };
}
