import { posix, win32 } from 'node:path';
import type { Environment } from '../variables.ts';
import type { World } from '../world.ts';

type Machine = Pick<World, 'env' | 'home' | 'platform'>;

/** The folder of settings: `XDG_CONFIG_HOME`, or `APPDATA` on Windows. */
export const settingsFolder = (machine: Machine): string =>
  folder(machine, { windows: 'APPDATA', xdg: 'XDG_CONFIG_HOME', below: '.config' });

/** The folder of what this machine saw: `XDG_STATE_HOME`, or `LOCALAPPDATA` on Windows. */
export const stateFolder = (machine: Machine): string =>
  folder(machine, { windows: 'LOCALAPPDATA', xdg: 'XDG_STATE_HOME', below: '.local/state' });

function folder(
  { env, home, platform }: Machine,
  { windows, xdg, below }: { windows: keyof Environment; xdg: keyof Environment; below: string },
): string {
  if (platform === 'win32') {
    return win32.join(env[windows] ?? win32.join(home, 'AppData', 'Roaming'), 'holdfast');
  }
  const named = env[xdg];
  // The specification of XDG says to ignore relative paths.
  return posix.join(named && posix.isAbsolute(named) ? named : posix.join(home, below), 'holdfast');
}
