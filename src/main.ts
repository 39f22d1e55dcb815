import { createApp } from './app.ts';
import { ConfigError, readConfig, readEnvironment } from './config.ts';
import { DataDirInUse } from './database/data-dir-lock.ts';

try {
  const app = await createApp(readConfig(readEnvironment()));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      app.log.info({ signal }, 'stopping');
      void app.close().then(() => process.exit(0));
    });
  }
} catch (error) {
  const isExpected = error instanceof ConfigError || error instanceof DataDirInUse;
  console.error(isExpected ? error.message : error);
  process.exit(1);
}
