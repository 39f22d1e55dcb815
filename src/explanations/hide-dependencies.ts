import type { ConditionFacts } from '../conditions/condition-facts.ts';
import type { Reason } from '../conditions/explain.ts';
import type { Deps } from '../deps.ts';
import type { FreezeReasons } from '../freezes/judge-freeze.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';

/** Takes out of reasons what they tell of pull requests that the reader may not see. */
export type HideDependencies = (reasons: FreezeReasons, facts: ConditionFacts) => FreezeReasons;

/**
 * A description can name pull requests of any repository, and whether one is merged is told by `depends-on`. Readers
 * of this repository need not see the others: those are shown that Holdfast knows as public.
 * @param all the facts whose reasons will be shown.
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

/** As conditions are written: `depends-on`, with `-` before it or `#`. */
const isAboutDependencies = /^\W*depends-on\b/;

/** A count would tell of the others too. */
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
