import { Command } from 'commander';
import { serviceToAsk } from '../config.ts';
import { doctor, exitCodes } from './doctor.ts';
import { printAttributes } from './print-attributes.ts';
import { testConditions } from './test-conditions.ts';

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const program = new Command('holdfast').description('Merge freezes that hold, and let go.');
const conditions = program
  .command('conditions')
  .description('the language of matching_conditions and exclude_conditions');

conditions
  .command('test')
  .description('judge conditions: reads JSON lines, prints one JSON line for each')
  .addHelpText(
    'after',
    `
A line of input, with what is left out null or empty, and now for "now":
  {"condition": "label=hotfix", "pull_request": {"label": ["hotfix"]}, "now": "2026-03-01T09:00:00Z"}
"condition" may be a group; "teams" may say who is in a team: {"@acme/core": ["mona"]}.
Its line of output:
  {"match": true, "reasons": [...], "next_change_at": null}   or   {"error": {"message": "...", "column": 1}}`,
  )
  .action(() => testConditions(process.stdin, process.stdout));

conditions
  .command('attributes')
  .description('print the attributes that conditions can name')
  .option('--json', 'one JSON object a line')
  .action((options: { json?: boolean }) => printAttributes(process.stdout, options.json === true));

program
  .command('doctor')
  .argument('[repository]', 'owner/repository: say whether freezes are enforced there')
  .description('ask a running Holdfast whether it is well, and whether it can hold a repository')
  .option('--url <url>', 'where it answers (HOLDFAST_URL, or PORT on this machine)')
  .option('--json', 'one JSON object')
  .addHelpText(
    'after',
    `
For a repository, HOLDFAST_TOKEN is an admin application key or the GitHub token of one of its admins.
Exits with 0 when nothing failed, 1 when something did, 2 when it cannot tell.`,
  )
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.cannotTell))
  .action(async (repository: string | undefined, options: { url?: string; json?: boolean }) => {
    const { url, token } = serviceToAsk();
    const asked = { repository, url: options.url ?? url, token, isJson: options.json === true };
    process.exitCode = await doctor(asked, process.stdout);
  });

await program.parseAsync();
