// The command line in the folder of the service. Its commands in addition need the service's own code, settings and
// database.
import { runProcess } from '../cli/run-process.ts';

await runProcess({
  db: async () => (await import('./archive/db-commands.ts')).db,
  prove: async () => (await import('../prove/prove.ts')).prove,
});
