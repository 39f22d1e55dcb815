import type { Verb as Name } from '../command.ts';
import type { Verb } from '../order.ts';
import { approve, deny } from './decide.ts';
import { exempt } from './exempt.ts';
import { freeze } from './freeze.ts';
import { showStatus } from './show-status.ts';
import { unfreeze } from './unfreeze.ts';

/** What each command does. */
export const carryOut: Record<Name, Verb> = { status: showStatus, exempt, approve, deny, freeze, unfreeze };
