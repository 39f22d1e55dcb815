import type { Verb } from '../command.ts';
import type { CarryOut } from '../order.ts';
import { approve, deny } from './decide.ts';
import { exempt } from './exempt.ts';
import { freeze } from './freeze.ts';
import { showStatus } from './show-status.ts';
import { unfreeze } from './unfreeze.ts';

/** The implementation of each command. */
export const carryOut: Record<Verb, CarryOut> = {
  status: showStatus,
  exempt,
  approve,
  deny,
  freeze,
  unfreeze,
};
