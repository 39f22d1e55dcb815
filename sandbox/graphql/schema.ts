import { buildSchema, parse, validate, GraphQLError, type DocumentNode, type GraphQLSchema } from 'graphql';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

let schema: GraphQLSchema | undefined;
const checked = new Map<string, DocumentNode | readonly GraphQLError[]>();

/** GitHub's published schema. It takes a quarter of a second to build, so this builds it once, at the first use. */
export function githubSchema(): GraphQLSchema {
  if (!schema) {
    // The file itself: importing the package would also parse five megabytes of JSON.
    const manifest = findPackageJSON('@octokit/graphql-schema', import.meta.url)!;
    schema = buildSchema(readFileSync(join(dirname(manifest), 'schema.graphql'), 'utf8'), {
      assumeValid: true,
    });
  }
  return schema;
}

/** Parses and validates a query, once per text: the document, or the errors. */
export function checkedDocument(query: string): DocumentNode | readonly GraphQLError[] {
  let result = checked.get(query);
  if (!result) {
    result = check(query);
    checked.set(query, result);
  }
  return result;
}

function check(query: string): DocumentNode | readonly GraphQLError[] {
  try {
    const document = parse(query);
    const errors = validate(githubSchema(), document);
    return errors.length > 0 ? errors : document;
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}
