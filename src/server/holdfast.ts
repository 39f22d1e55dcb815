// The command line in the folder of the service: it has the commands that need the service's own code as well.
import { commandsOfService } from './archive/commands.ts';
import { runProcess } from '../cli/run-process.ts';

await runProcess(commandsOfService);
