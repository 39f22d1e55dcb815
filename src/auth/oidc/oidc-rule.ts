import { compileGlob } from '../../conditions/patterns/compile-glob.ts';
import { compileNameGlob } from '../../conditions/patterns/compile-name-glob.ts';
import type { TextTest } from '../../conditions/patterns/text-test.ts';
import type { Actor } from '../../events/actor.ts';
import type { Job } from './job.ts';

/** What a job may do. Each contains those before it. */
export const jobPermissions = ['push_scopes', 'freeze'] as const;
export type JobPermission = (typeof jobPermissions)[number];

/** Lets jobs of an owner's repositories in. The lists are globs; null: any. */
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

/** The rule of an owner that counts for a job: of those that match, one that allows most, and of these the first. */
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
 * The ref whose code runs, as far as the token tells. A run of `pull_request_target` has the ref of a branch, and was
 * started by a pull request, also of strangers, whose code it may check out.
 */
const codeRefOf = ({ event, ref }: Job): string | null => (event === 'pull_request_target' ? null : ref);

const holds = (globs: string[] | null, compile: (glob: string) => TextTest, text: string | null): boolean =>
  globs === null || (text !== null && globs.some((glob) => compile(glob)(text)));
