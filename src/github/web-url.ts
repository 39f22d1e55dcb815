import { isIP } from 'node:net';

/**
 * Where people see the GitHub whose API is at this URL, without a slash at the end: github.com, a tenant of ghe.com
 * (its API is at `api.TENANT.ghe.com`), or a GitHub Enterprise Server (at `HOST/api/v3`).
 */
export function webUrlOf(githubApiUrl: string): string {
  const { protocol, host } = new URL(githubApiUrl);
  const isHosted = /^api\.(github\.com|[^.]+\.ghe\.com)$/.test(host);
  return `${protocol}//${isHosted ? host.slice('api.'.length) : host}`;
}

/**
 * Where the GitHub whose API is at this URL has the pictures of its people and teams, as origins. An Enterprise Server has
 * them at its own host, or below it if its subdomains are isolated.
 */
export function pictureOriginsOf(githubApiUrl: string): string[] {
  const { protocol, host, hostname } = new URL(webUrlOf(githubApiUrl));
  if (host === 'github.com') return [ofHosted];
  const own = isNumeric(hostname) ? [] : [`${protocol}//avatars.${host}`];
  return [`${protocol}//${host}`, ...own, ...(host.endsWith('.ghe.com') ? [ofHosted] : [])];
}

const ofHosted = 'https://avatars.githubusercontent.com';
const isNumeric = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;

/** What people call the GitHub at this address: its host name, for an address of numbers says nothing to them. */
export function nameOfGitHub(url: string): string {
  const { host, hostname } = new URL(url);
  return isNumeric(hostname) ? `the GitHub at ${host}` : host;
}
