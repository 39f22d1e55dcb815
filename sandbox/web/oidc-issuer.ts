import type { Api, Parts } from '../http/api.ts';
import { issuerPath } from '../state/oidc-keys.ts';

/** Shows everybody the keys with which GitHub signs the OIDC tokens of jobs. */
export function oidcIssuer(api: Api, { world }: Parts): void {
  api.get(`${issuerPath}/.well-known/openid-configuration`, (c) => {
    const issuer = world.url + issuerPath;
    return c.json({
      issuer,
      jwks_uri: `${issuer}/.well-known/jwks`,
      subject_types_supported: ['public', 'pairwise'],
      response_types_supported: ['id_token'],
      id_token_signing_alg_values_supported: ['RS256'],
      scopes_supported: ['openid'],
    });
  });
  api.get(`${issuerPath}/.well-known/jwks`, (c) => c.json(world.oidcKeys.keySet()));
}
