/** GraphQL's integers end here, and with them GitHub's numbers of pull requests and issues. */
export const greatestNumber = 2_147_483_647n;
