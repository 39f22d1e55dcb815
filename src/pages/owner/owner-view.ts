import {
  isNotEnforced,
  isUnknown,
  type RepositoryState,
  type StateName,
  stateOf,
} from '../../explanations/repository-states.ts';

/** What the URL of an owner's page asks for. */
export type OwnerView = {
  /** A part of a name, in any letter case; empty for all. */
  q: string;
  state: StateFilter | null;
  /** Counted from 1. */
  page: number;
};

export const stateFilters = ['trouble', 'unknown', 'frozen', 'scheduled', 'free', 'archived'] as const;
type StateFilter = (typeof stateFilters)[number];

export const filterNames: Record<StateFilter, string> = {
  trouble: 'Not enforced',
  unknown: 'Not known to be enforced',
  frozen: 'Frozen',
  scheduled: 'Scheduled',
  free: 'Free',
  archived: 'Archived',
};

export const perPage = 50;

/** Reads the query of a URL. Ignores what it does not understand. */
export function readOwnerView(query: Record<string, string>): OwnerView {
  const { q = '', state, page = '1' } = query;
  return {
    q: q.trim().slice(0, 100),
    state: stateFilters.find((name) => name === state) ?? null,
    page: /^[1-9]\d{0,4}$/.test(page) ? Number(page) : 1,
  };
}

/** The repositories that match a view, and the ones on its page. */
export function chosenBy({ q, state, page }: OwnerView, all: RepositoryState[]) {
  const part = q.toLowerCase();
  const fits = (each: RepositoryState) =>
    each.name.toLowerCase().includes(part) && (state === null || isIn(each, state));
  const found = all.filter(fits);
  const pages = Math.max(1, Math.ceil(found.length / perPage));
  const shown = Math.min(page, pages);
  return {
    found: found.length,
    pages,
    page: shown,
    rows: found.slice((shown - 1) * perPage, shown * perPage),
  };
}

function isIn(each: RepositoryState, state: StateFilter): boolean {
  if (state === 'trouble') return isNotEnforced(each);
  return state === 'unknown' ? isUnknown(each) : stateOf(each) === (state satisfies StateName);
}

/** The relative URL of a view with some parameters changed. */
export function ownerLink(view: OwnerView, change: Partial<OwnerView>): string {
  const { q, state, page } = { ...view, page: 1, ...change };
  const words = new URLSearchParams({
    ...(q && { q }),
    ...(state && { state }),
    ...(page > 1 && { page: String(page) }),
  });
  return `?${words}#repositories`;
}
