import { randomUUID } from 'node:crypto';
import { parseAhead, parseConditions } from '../conditions/parse-conditions.ts';
import { conflict, invalid, type Problem, Refusal } from '../errors.ts';
import { assertWritable, type FoundRepository, fullName } from '../installations/find-repository.ts';
import { freezesAreOn } from '../installations/product.ts';
import { nowOf } from '../time/clock.ts';
import { eachField, type Freeze, type FreezeFields, type NewFreeze, type StoredFreeze } from './freeze.ts';
import { requireFreeze } from './freeze-store.ts';
import {
  type FreezeWindow,
  limitOpenEnd,
  planWindow,
  reviseWindow,
  warningsOfOpenEnd,
  type WindowResult,
} from './freeze-window.ts';
import type { FreezeDeps } from './freeze-deps.ts';

// What requests for new and changed freezes come to, before anything is saved.

type Conditions<Of extends FreezeFields | NewFreeze> = Pick<Of, 'matchingConditions' | 'excludeConditions'>;

/**
 * The validated window and conditions of a freeze.
 * @throws Refusal start-already-passed; invalid, which names every bad field and condition.
 */
function checkFreeze(
  window: WindowResult,
  { matchingConditions, excludeConditions }: Conditions<NewFreeze>,
): FreezeWindow & Conditions<FreezeFields> {
  if (!window.ok && window.reason === 'start-already-passed') {
    throw new Refusal(
      'start-already-passed',
      'This freeze has begun, so its start cannot change. Leave out start and timezone, or delete it and create another.',
    );
  }
  const problems = problemsOfFreeze(window, { matchingConditions, excludeConditions });
  if (!window.ok || problems.length > 0) throw invalid(problems);
  const lists = { matchingConditions, excludeConditions } as Conditions<FreezeFields>;
  return { ...window.value, ...lists };
}

/** Every bad time and condition of a request for a freeze or a plan, with its place in the body. */
export function problemsOfFreeze(window: WindowResult, lists: Conditions<NewFreeze>): Problem[] {
  const ofWindow = window.ok || window.reason !== 'invalid' ? [] : window.problems;
  const parsed = [
    parseConditions(lists.matchingConditions, ['body', 'matching_conditions']),
    parseConditions(lists.excludeConditions, ['body', 'exclude_conditions']),
  ];
  return [
    ...ofWindow.map(({ field, message }) => ({ path: ['body', field], message, type: 'value_error' })),
    ...parsed
      .flatMap((result) => (result.ok ? [] : result.problems))
      .map(({ path, message, column }) => ({
        path,
        message: column === null ? message : `${message} (column ${column})`,
        type: 'value_error.condition',
      })),
  ];
}

/** A freeze, and its warnings in sentences. */
export type SavedFreeze = { freeze: Freeze; warnings: string[] };

/**
 * The requested freeze, not saved yet, and its warnings. @throws Refusal like `createFreeze`.
 * @param evenIfOff whether to plan it where freezes are switched off.
 */
export async function planFreeze(
  deps: Pick<FreezeDeps, 'clock'>,
  repository: FoundRepository,
  input: NewFreeze,
  evenIfOff = false,
): Promise<SavedFreeze> {
  assertWritable(repository);
  if (!evenIfOff) assertSwitchedOn(repository);
  await parseAhead(input.matchingConditions, input.excludeConditions);
  const now = nowOf(deps.clock);
  const { longestOpenEndHours } = repository;
  const checked = checkFreeze(limitOpenEnd(planWindow(input, now), longestOpenEndHours, now), input);
  const freeze = { id: randomUUID(), repositoryId: repository.id, ...input, ...checked };
  return { freeze, warnings: input.end === null ? warningsOfOpenEnd(checked, longestOpenEndHours) : [] };
}

function assertSwitchedOn(repository: FoundRepository): void {
  if (freezesAreOn(repository.products)) return;
  const { account, name } = repository;
  throw conflict(
    `Freezes are switched off for ${fullName(repository)}: neither merge_protections nor merge_queue is enabled. ` +
      `Enable one first with PUT /v1/products/${account.login}/${name} and {"products": ["merge_protections"]}.`,
  );
}

/** `undefined` keeps a field. */
export type FreezeChange = Partial<NewFreeze>;

/** A freeze before and after a change, and the warnings. */
export type PlannedChange = { before: StoredFreeze; after: StoredFreeze; warnings: string[] };

/**
 * The result of a change to a freeze, not saved yet.
 * @throws Refusal start-already-passed if the start of a freeze that has begun would move; not-found if the freeze is
 *   deleted, has ended or belongs to another repository; conflict if the repository cannot be written to; invalid.
 */
export async function planChange(
  deps: FreezeDeps,
  repository: FoundRepository,
  id: string,
  change: FreezeChange,
): Promise<PlannedChange> {
  const before = await requireFreeze(deps, repository, id);
  assertWritable(repository);
  await parseAhead(change.matchingConditions, change.excludeConditions);
  const now = nowOf(deps.clock);
  // A freeze that had no end keeps none, and a pause never has an end.
  const isOpened = change.end === null && before.end !== null && !before.isPause;
  const hours = isOpened ? repository.longestOpenEndHours : null;
  const fields = revisedFields(before, change);
  const checked = checkFreeze(limitOpenEnd(reviseWindow(before, change, now), hours, now), fields);
  return { before, after: { ...before, ...fields, ...checked }, warnings: warningsOfOpenEnd(checked, hours) };
}

/** Removing a field that was never set changes nothing, so answers still leave it out. */
const revisedFields = (before: FreezeFields, change: FreezeChange) =>
  eachField<NewFreeze>((name) => {
    const sent = change[name];
    return sent === undefined || (sent === null && before[name] === undefined) ? before[name] : sent;
  });
