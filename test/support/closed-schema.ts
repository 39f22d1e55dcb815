/** A JSON Schema. */
export type Schema = { [keyword: string]: unknown };

/**
 * A schema that lets no property through that it does not describe.
 * @param isPart whether another schema adds properties to the same object.
 */
export function close(schema: Schema, isPart = false): Schema {
  const list = (name: string, inside = false) =>
    Array.isArray(schema[name])
      ? { [name]: (schema[name] as Schema[]).map((each) => close(each, inside)) }
      : {};
  const one = (name: string) =>
    typeof schema[name] === 'object' ? { [name]: close(schema[name] as Schema) } : {};
  const describesObject = 'properties' in schema || 'allOf' in schema || '$ref' in schema;
  return {
    ...schema,
    ...('properties' in schema ? { properties: mapped(schema['properties'] as Schema, close) } : {}),
    ...list('anyOf'),
    ...list('oneOf'),
    ...list('allOf', true),
    ...one('items'),
    ...one('additionalProperties'),
    ...(describesObject && !isPart ? { unevaluatedProperties: false } : {}),
  };
}

/** Changes each schema of an object of schemas. */
export function mapped(schemas: Schema, change: (schema: Schema) => Schema): Schema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, change(schema as Schema)]),
  );
}
