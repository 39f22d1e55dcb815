// `npm run build:action`: writes what actions/push-scopes runs. A test fails when it is not what the source makes.
import { writeFileSync } from 'node:fs';
import { bundleAction } from './bundle.ts';

for (const [name, text] of Object.entries(await bundleAction()))
  writeFileSync(new URL(`push-scopes/${name}`, import.meta.url), text);
