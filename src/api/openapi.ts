import type { OpenAPIHono } from '@hono/zod-openapi';
import { securitySchemes } from './responses.ts';
import { matchingConditionsDict } from './v1/freeze-schemas.ts';

/** The OpenAPI 3.1 document of what is mounted, from the schemas that validate the requests. */
export function openApiDocument(api: OpenAPIHono, publicUrl: string): object {
  for (const [name, scheme] of Object.entries(securitySchemes)) {
    api.openAPIRegistry.registerComponent('securitySchemes', name, scheme);
  }
  api.openAPIRegistry.registerComponent(
    'schemas',
    'MatchingConditionsDict',
    matchingConditionsDict as object,
  );
  return api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version: '1',
      description: 'Merge freezes that hold, and let go.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: `${publicUrl}/v1` }],
  });
}
