/**
 * Where people reach the GitHub whose API this is, without a slash at the end: `https://github.com`, an Enterprise
 * Server (`https://HOST/api/v3`), or a tenant of ghe.com (`https://api.TENANT.ghe.com`).
 */
export function webUrlOf(apiUrl: string): string {
  const { protocol, host, pathname } = new URL(apiUrl);
  const path = pathname.replace(/\/+$/, '').replace(/\/api\/v3$/, '');
  return `${protocol}//${host.replace(/^api\./, '')}${path}`;
}
