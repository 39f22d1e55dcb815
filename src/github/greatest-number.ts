/** The greatest integer of GraphQL, and so the greatest number of a pull request or an issue. */
export const greatestNumber = 2_147_483_647n;
