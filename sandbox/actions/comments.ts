import { commentJson, issueJson } from '../json/comment-json.ts';
import { atLeast, permits, roleOf } from '../state/access.ts';
import type { Account, Comment, PullRequest } from '../state/model.ts';
import type { World } from '../state/world.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** Changes of comments on the conversation of pull requests, each with its `issue_comment` webhook. */
export class Comments {
  readonly #world: World;
  readonly #webhooks: Webhooks;

  constructor(world: World, webhooks: Webhooks) {
    this.#world = world;
    this.#webhooks = webhooks;
  }

  create(pr: PullRequest, author: Account, body: string, { throughApp = false } = {}): Comment {
    const at = this.#world.now();
    const id = this.#world.ids.next('comment', 2_000_000_000);
    const comment: Comment = { id, author, body, throughApp, createdAt: at, updatedAt: at };
    pr.comments.push(comment);
    pr.updatedAt = at;
    this.#world.formerVersions.changed(pr);
    this.#emit('created', pr, comment, author);
    return comment;
  }

  /** The author can do this, and so can people who can write to the repository. */
  edit(pr: PullRequest, comment: Comment, body: string, by: Account): void {
    const changes = { body: { from: comment.body } };
    comment.body = body;
    comment.updatedAt = this.#world.now();
    this.#emit('edited', pr, comment, by, { changes });
  }

  delete(pr: PullRequest, comment: Comment, by: Account): void {
    pr.comments.splice(pr.comments.indexOf(comment), 1);
    this.#emit('deleted', pr, comment, by);
  }

  /** Only installations that granted `issues: read` get the event. */
  #emit(action: string, pr: PullRequest, comment: Comment, by: Account, more: object = {}): void {
    const { repository } = pr;
    const installation = this.#world.installationFor(repository);
    if (!installation || !permits(installation.permissions, 'issues', 'read')) return;
    this.#webhooks.emit({
      event: 'issue_comment',
      action,
      repository,
      sender: by,
      payload: {
        issue: issueJson(this.#world, pr),
        comment: commentJson(this.#world, pr, comment),
        ...more,
      },
    });
  }
}

/** Whether a person who can see a pull request can comment: in a locked conversation, only people who can write. */
export const mayComment = ({ locked, repository }: PullRequest, person: Account): boolean =>
  !repository.archived && (!locked || atLeast(roleOf(person, repository), 'write'));

/** The verbs of comments: names in, plain values out. */
export function commentVerbs(world: World, comments: Comments) {
  const find = (fullName: string, number: number, id: number) => {
    const pr = world.pullRequest(fullName, number);
    const comment = pr.comments.find((each) => each.id === id);
    if (!comment) throw new Error(`No comment ${id} on #${number}`);
    return { pr, comment };
  };
  return {
    /** Writes a comment and returns its id. `throughApp`: with a token that the person gave to the App. */
    comment(fullName: string, number: number, given: { by: string; body: string; throughApp?: boolean }) {
      const { by, body, throughApp } = given;
      return comments.create(world.pullRequest(fullName, number), world.account(by), body, { throughApp }).id;
    },
    editComment(fullName: string, number: number, id: number, { by, body }: { by: string; body: string }) {
      const { pr, comment } = find(fullName, number, id);
      comments.edit(pr, comment, body, world.account(by));
    },
    deleteComment(fullName: string, number: number, id: number, by: string) {
      const { pr, comment } = find(fullName, number, id);
      comments.delete(pr, comment, world.account(by));
    },
    /** The conversation of a pull request, the oldest comment first. */
    comments: (fullName: string, number: number) =>
      world
        .pullRequest(fullName, number)
        .comments.map(({ id, author, body }) => ({ id, by: author.login, body })),
  };
}
