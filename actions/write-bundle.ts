// `npm run build:action`: writes the program of actions/push-scopes. A test fails if it differs from the source.
import { writeFileSync } from 'node:fs';
import { bundleAction } from './bundle.ts';

for (const [name, text] of Object.entries(await bundleAction()))
  writeFileSync(new URL(`push-scopes/${name}`, import.meta.url), text);
