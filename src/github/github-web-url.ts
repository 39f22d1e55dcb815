/**
 * Where people find the GitHub whose API is at `githubApiUrl`: https://api.github.com has https://github.com,
 * https://api.SUB.ghe.com has https://SUB.ghe.com, and a GitHub Enterprise Server (https://HOST/api/v3) its own origin.
 * @returns an origin, without a slash at the end.
 */
export function githubWebUrl(githubApiUrl: string): string {
  const { origin, host } = new URL(githubApiUrl);
  if (host === 'api.github.com') return 'https://github.com';
  if (/^api\.[a-z0-9-]+\.ghe\.com$/.test(host)) return `https://${host.slice('api.'.length)}`;
  return origin;
}
