import type { Deps } from '../deps.ts';
import type { Actor } from '../events/actor.ts';
import { webUrlOf } from '../github/web-url.ts';
import type { Person, TokenHolder } from './github-token.ts';
import type { KeyRow } from './application-key.ts';
import type { Job, OidcRule } from './oidc/oidc-rule.ts';

/** Who asks for something, on every road. It says who they are, and `authorize` decides what they may do. */
export type Caller =
  | ({ kind: 'application-key' } & KeyRow)
  | ({ kind: 'github-token'; token: string } & TokenHolder)
  | { kind: 'job-token'; job: Job; rule: OidcRule }
  /** Somebody who is signed in on the pages. */
  | { kind: 'session'; person: Person }
  /** The author of a comment, as GitHub's webhook says. */
  | { kind: 'comment'; person: Person }
  /** Somebody in Slack who linked their account. */
  | { kind: 'slack'; person: Person };

export type KeyCaller = Extract<Caller, { kind: 'application-key' }>;
export type JobCaller = Extract<Caller, { kind: 'job-token' }>;
/** A caller whose rights are those of a person at GitHub. */
export type PersonCaller = Exclude<Caller, KeyCaller | JobCaller>;

/** The name of the caller in the audit log. */
export function actorOf({ config }: Pick<Deps, 'config'>, caller: Caller): Actor {
  switch (caller.kind) {
    case 'application-key':
      return { type: 'application', id: caller.key.id, name: caller.key.name };
    case 'job-token': {
      const { repository, workflow, runId, attempt } = caller.job;
      const run = `${webUrlOf(config.githubApiUrl)}/${repository}/actions/runs/${runId}/attempts/${attempt}`;
      const name = `${repository} ${workflow} run ${runId}`;
      return { type: 'application', id: caller.rule.id, name, run };
    }
    default:
      return { type: 'user', id: caller.person.id, name: caller.person.login };
  }
}
