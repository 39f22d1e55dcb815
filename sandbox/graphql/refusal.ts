import { GraphQLError } from 'graphql';

export type RefusalType =
  | 'NOT_FOUND'
  | 'FORBIDDEN'
  | 'MISSING_PAGINATION_BOUNDARIES'
  | 'EXCESSIVE_PAGINATION'
  | 'INVALID_CURSOR_ARGUMENTS'
  | 'MAX_NODE_LIMIT_EXCEEDED'
  | 'RATE_LIMITED'
  | 'SERVICE_UNAVAILABLE'
  | 'SANDBOX_UNKNOWN_FIELD';

/** An error with the `type` that GitHub puts beside the message. */
export function refusal(type: RefusalType, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { type } });
}

/** An error in GitHub's form: `type` at the top, and GitHub's words for a field that does not exist. */
export function errorJson(error: GraphQLError) {
  const { path, locations } = error;
  const unknown = /^Cannot query field "(\w+)" on type "(\w+)"/.exec(error.message);
  if (unknown) {
    const [, fieldName, typeName] = unknown;
    const extensions = { code: 'undefinedField', typeName, fieldName };
    return { locations, extensions, message: `Field '${fieldName}' doesn't exist on type '${typeName}'` };
  }
  const { type } = error.extensions;
  return { ...(type !== undefined && { type }), ...(path && { path }), locations, message: error.message };
}
