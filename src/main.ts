import { createApp } from './server/app.ts';
import { misnamedIn } from './config-values.ts';
import { ConfigError, readConfig, readEnvironment } from './config.ts';
import { DataDirInUse, UnfinishedImport, UnusableDatabase } from './database/database-errors.ts';

// Only the service's own account can read the files that it writes, such as the database.
process.umask(0o077);

try {
  const environment = readEnvironment();
  const app = await createApp(readConfig(environment));
  for (const hint of misnamedIn(environment))
    app.log.warn({ hint }, 'a setting has the name that another program gives it');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      app.log.info({ signal }, 'stopping');
      void app.close().then(() => process.exit(0));
    });
  }
  void app.ended?.then(({ kind, message }) => {
    const text = `The embedded database has stopped. ${message} This process ends, so that it is started again.`;
    app.log.fatal({ database: kind }, text);
    process.exit(1);
  });
} catch (error) {
  console.error(explain(error));
  process.exit(1);
}

/** What to do about a failed start, or the error itself if we do not know. */
function explain(error: unknown): unknown {
  const known = [ConfigError, DataDirInUse, UnusableDatabase, UnfinishedImport];
  if (known.some((kind) => error instanceof kind)) return (error as Error).message;
  return cannotListen(error as ListenError) ?? error;
}

type ListenError = NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string };

/** Why the service cannot listen at HOST and PORT; null if it is about something else. */
function cannotListen({ code, syscall, address, port, hostname }: ListenError): string | null {
  if (syscall === 'getaddrinfo')
    return `HOST names ${hostname}, which cannot be looked up (${code}): set it to an address of this machine.`;
  if (syscall !== 'listen') return null;
  const at = `HOST ${address} and PORT ${port}`;
  const why: Record<string, string> = {
    EADDRINUSE: `Port ${port} is taken by another program: stop that, or set PORT to a free one.`,
    EADDRNOTAVAIL: `HOST names ${address}, which is no address of this machine: set it to one of them, or to 0.0.0.0 for all.`,
    EACCES: `The user of this process may not listen on port ${port}: set PORT to one from 1024 on.`,
  };
  return why[code ?? ''] ?? `Nothing can listen at ${at} (${code}): correct them.`;
}
