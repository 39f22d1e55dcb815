import { invalid } from '../http/github-error.ts';
import { stackPlaceJson } from '../json/stack-json.ts';
import { stackOf } from '../state/stacks.ts';
import type { PullRequest, Repository, Stack } from '../state/model.ts';
import type { World } from '../state/world.ts';
import type { PullRequestEvents } from './pull-request-events.ts';

/** Makes and dissolves stacks. GitHub tells of pull requests that enter one, and of none that leaves. */
export class Stacks {
  readonly #world: World;
  readonly #events: PullRequestEvents;

  constructor(world: World, events: PullRequestEvents) {
    this.#world = world;
    this.#events = events;
  }

  /** @param members bottom first: each is based on the head branch of the one below. */
  create(repository: Repository, members: PullRequest[]): Stack {
    const stack = this.#next(repository, members);
    if (members.length < 2 || members.length > 100) refuse('A stack has 2 to 100 pull requests.');
    this.#append(stack, members);
    repository.stacks.push(stack);
    for (const pr of members) this.#tell(pr);
    return stack;
  }

  /** A stack of long ago. */
  keepFormer(repository: Repository, members: PullRequest[]): void {
    repository.stacks.push({ ...this.#next(repository, members), pullRequests: members });
  }

  add(stack: Stack, members: PullRequest[]): void {
    this.#append(stack, members);
    for (const pr of members) this.#tell(pr);
  }

  /** Everything that is not merged leaves. */
  unstack(repository: Repository, stack: Stack): void {
    stack.pullRequests = stack.pullRequests.filter(({ merged }) => merged);
    if (stack.pullRequests.length > 0) return;
    repository.stacks = repository.stacks.filter((each) => each !== stack);
  }

  #next(repository: Repository, members: PullRequest[]): Stack {
    return {
      id: this.#world.ids.next('stack', 120_000),
      number: this.#world.ids.next(`stack of ${repository.id}`, 0),
      base: members[0]?.base ?? '',
      pullRequests: [],
      createdAt: this.#world.now(),
    };
  }

  #append(stack: Stack, members: PullRequest[]): void {
    let below = stack.pullRequests.at(-1);
    for (const pr of members) {
      if (pr.state !== 'open' || stackOf(pr)) refuse(`#${pr.number} cannot be stacked.`);
      if (below && pr.base !== below.head.ref) refuse(`#${pr.number} is not based on #${below.number}.`);
      below = pr;
    }
    stack.pullRequests = [...stack.pullRequests, ...members];
  }

  #tell(pr: PullRequest): void {
    this.#events.emit(pr, 'stacked', stackPlaceJson(pr));
  }
}

function refuse(message: string): never {
  throw invalid('Stack', [{ code: 'custom', field: 'pull_requests', message }]);
}

/** The stack verbs of the sandbox's interface. */
export const stackVerbs = (world: World, stacks: Stacks) => ({
  /** Makes a stack of these pull requests, bottom first, and returns its number. */
  stack(fullName: string, numbers: number[]): number {
    const members = numbers.map((number) => world.pullRequest(fullName, number));
    return stacks.create(world.repository(fullName), members).number;
  },

  /** So many stacks whose pull requests, all of them closed, are these. GitHub goes on listing former stacks. */
  formerStacks(fullName: string, numbers: number[], count: number) {
    const members = numbers.map((number) => world.pullRequest(fullName, number));
    if (members.some(({ state }) => state === 'open')) throw new Error('A former stack has no open member');
    for (let made = 0; made < count; made++) stacks.keepFormer(world.repository(fullName), members);
  },

  /** Dissolves the stack of a pull request. No webhook says so. */
  unstack(fullName: string, number: number): void {
    const pr = world.pullRequest(fullName, number);
    const stack = stackOf(pr);
    if (!stack) throw new Error(`${fullName}#${number} is in no stack`);
    stacks.unstack(pr.repository, stack);
  },
});
