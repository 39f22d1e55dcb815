// `npm run build:action`: writes the programs of the actions. Tests fail if they differ from the source.
import { writeFileSync } from 'node:fs';
import { actions, bundleAction } from './bundle.ts';

for (const action of actions)
  for (const [name, text] of Object.entries(await bundleAction(action)))
    writeFileSync(new URL(`${action}/${name}`, import.meta.url), text);
