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

/** What people call the GitHub at this address: its host name, for an address of numbers says nothing to them. */
export function nameOfGitHub(url: string): string {
  const { host, hostname } = new URL(url);
  return isIP(hostname.replace(/^\[|\]$/g, '')) ? `the GitHub at ${host}` : host;
}
