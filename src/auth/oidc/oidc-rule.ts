import { compileGlob, compileNameGlob } from '../../conditions/patterns/compile-glob.ts';
import type { TextTest } from '../../conditions/ast.ts';
import type { Actor } from '../../events/actor.ts';
import type { Job } from './job.ts';

/** What a rule allows a job. Each value includes those before it. */
export const jobPermissions = ['push_scopes', 'freeze'] as const;
export type JobPermission = (typeof jobPermissions)[number];

/** Lets in jobs of an owner's repositories. The lists are globs; null: any. */
export type OidcRule = {
  id: string;
  name: string;
  repositories: string[] | null;
  refs: string[] | null;
  environments: string[] | null;
  may: JobPermission[];
  createdAt: Date;
  createdBy: Actor;
};

/** The rule that counts for a job: of the matching rules, the first of those that allow most. */
export function ruleFor(job: Job, rules: OidcRule[]): OidcRule | null {
  const matching = rules.filter((rule) => matches(rule, job));
  return matching.find(({ may }) => may.includes('freeze')) ?? matching[0] ?? null;
}

function matches({ repositories, refs, environments }: OidcRule, job: Job): boolean {
  const name = job.repository.slice(job.repository.indexOf('/') + 1);
  return (
    holds(repositories, compileNameGlob, name) &&
    holds(refs, compileGlob, codeRefOf(job)) &&
    holds(environments, compileNameGlob, job.environment)
  );
}

/**
 * The ref whose code runs, as far as the token says. A run of `pull_request_target` has the ref of a branch, but a pull
 * request started it, perhaps a stranger's, and it can check out that code.
 */
const codeRefOf = ({ event, ref }: Job): string | null => (event === 'pull_request_target' ? null : ref);

const holds = (globs: string[] | null, compile: (glob: string) => TextTest, text: string | null): boolean =>
  globs === null || (text !== null && globs.some((glob) => compile(glob)(text)));
