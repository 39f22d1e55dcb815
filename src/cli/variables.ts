/** Every variable of the environment that the commands read, with what it is. */
export const variables = {
  HOLDFAST_URL: 'where Holdfast answers; `--url` instead of it',
  HOLDFAST_TOKEN: 'an application key, or a GitHub token; without it, what `gh auth token` says',
  GH_HOST: 'the GitHub that is meant, as `gh` has it: `github.com` without it',
  NO_COLOR: 'set to anything: no colours',
  TERM: '`dumb`: no colours',
  XDG_CONFIG_HOME: 'where `holdfast login` keeps addresses, instead of `~/.config`',
  XDG_STATE_HOME: 'where is kept what was seen, instead of `~/.local/state`',
  APPDATA: 'on Windows: where `holdfast login` keeps addresses',
  LOCALAPPDATA: 'on Windows: where is kept what was seen',
  PORT: 'of a service on this machine, which `doctor` asks where nobody names another; also from `.env`',
  HOST: 'the same',
} as const;

export type Environment = Partial<Record<keyof typeof variables, string>>;
