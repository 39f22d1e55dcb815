/** The most different scopes of a push. */
export const mostScopes = 500;

/** The most characters (code points) of a scope; it has at least one. */
export const longestScope = 255;
