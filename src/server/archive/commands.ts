import type { Commands } from '../../cli/program.ts';

/** Commands that stay with the service: they need its code, its settings and its database. */
export const commandsOfService: Commands = {
  db: async () => (await import('./db-commands.ts')).db,
};
