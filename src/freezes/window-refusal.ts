import { invalid, Refusal } from '../errors.ts';
import type { WindowResult } from './freeze.ts';

/** The refusal of a window that cannot be, with every bad field. */
export function windowRefusal(result: Extract<WindowResult, { ok: false }>): Refusal {
  if (result.reason === 'start-already-passed') {
    return new Refusal(
      'start-already-passed',
      'This freeze has begun, so its start cannot change. Leave out start and timezone, or delete it and create another.',
    );
  }
  return invalid(
    result.problems.map(({ field, message }) => ({ path: ['body', field], message, type: 'value_error' })),
  );
}
