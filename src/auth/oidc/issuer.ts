import { webUrlOf } from '../../github/web-url.ts';

/**
 * The issuer of the OIDC tokens of jobs, by the URL of GitHub's API: github.com, a tenant of ghe.com, or a GitHub
 * Enterprise Server. Source: "OpenID Connect reference" of GitHub's documentation.
 */
export function issuerOf(githubApiUrl: string): string {
  const { host } = new URL(githubApiUrl);
  if (host === 'api.github.com') return 'https://token.actions.githubusercontent.com';
  const tenant = /^api\.([^.]+\.ghe\.com)$/.exec(host)?.[1];
  return tenant ? `https://token.actions.${tenant}` : `${webUrlOf(githubApiUrl)}/_services/token`;
}
