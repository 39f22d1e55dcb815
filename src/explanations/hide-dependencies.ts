import type { ConditionFacts } from '../conditions/attributes.ts';
import type { Reason } from '../conditions/explain.ts';
import type { Deps } from '../deps.ts';
import type { FreezeReasons } from '../freezes/judge-freeze.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';

/** Removes from reasons what they reveal about pull requests that the reader may not see. */
type HideDependencies = (reasons: FreezeReasons, facts: ConditionFacts) => FreezeReasons;

/**
 * A description can name pull requests of any repository, and `depends-on` reveals whether they are merged. Readers of
 * this repository may not have access to the others, so we only show those of public repositories.
 * @param all the facts whose reasons are shown.
 */
export async function hideDependencies(
  deps: Pick<Deps, 'db'>,
  repository: FoundRepository,
  all: ConditionFacts[],
): Promise<HideDependencies> {
  const own = fullName(repository).toLowerCase();
  const others = new Set(
    all
      .flatMap(dependenciesOf)
      .map(repositoryOf)
      .filter((name) => name !== own),
  );
  const shown = new Set([own, ...(await publicAmong(deps, [...others]))]);
  const isShown = (name: string) => shown.has(repositoryOf(name));
  return (reasons, facts) => {
    const visible = dependenciesOf(facts).filter(isShown);
    if (visible.length === dependenciesOf(facts).length) return reasons;
    const hide = (reason: Reason): Reason =>
      isAboutDependencies.test(reason.condition) && reason.saw ? hidden(reason, visible) : reason;
    return { matching: reasons.matching.map(hide), exclude: reasons.exclude.map(hide) };
  };
}

/** Matches `depends-on` in conditions, with `-` or `#` before it. */
const isAboutDependencies = /^\W*depends-on\b/;

/** A count would reveal the others too. */
function hidden(reason: Reason, visible: string[]): Reason {
  if (typeof reason.saw?.[0] === 'number') return { ...reason, saw: null };
  const saw = reason.saw!.filter((name) => visible.includes(String(name)));
  return { ...reason, saw, more: visible.length - saw.length };
}

const dependenciesOf = ({ values }: ConditionFacts): string[] =>
  (values['depends-on'] as string[] | undefined) ?? [];

const repositoryOf = (name: string): string => name.slice(0, name.lastIndexOf('#')).toLowerCase();

async function publicAmong({ db }: Pick<Deps, 'db'>, names: string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const rows = await db.repository.findMany({
    where: {
      private: false,
      OR: names.map((name) => {
        const [loginKey = '', nameKey = ''] = name.split('/');
        return { nameKey, account: { loginKey } };
      }),
    },
    include: { account: true },
  });
  return rows.map((row) => `${row.account.loginKey}/${row.nameKey}`);
}
