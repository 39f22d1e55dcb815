#!/usr/bin/env node
// The command line as the package has it.
import { runProcess } from './run-process.ts';

await runProcess();
