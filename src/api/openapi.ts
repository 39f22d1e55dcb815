import { OpenAPIHono } from '@hono/zod-openapi';
import { describeRoute } from './describe-route.ts';
import { endpoints } from './endpoints.ts';
import { securitySchemes } from './responses.ts';
import { matchingConditionsDict } from './v1/freeze-schemas.ts';

/** The OpenAPI 3.1 document of all endpoints, from the schemas that validate the requests. */
export function openApiDocument(publicUrl: string): object {
  const api = new OpenAPIHono();
  const registry = api.openAPIRegistry;
  for (const definition of endpoints) registry.registerPath(describeRoute(definition));
  for (const [name, scheme] of Object.entries(securitySchemes)) {
    registry.registerComponent('securitySchemes', name, scheme);
  }
  registry.registerComponent('schemas', 'MatchingConditionsDict', matchingConditionsDict as object);
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
