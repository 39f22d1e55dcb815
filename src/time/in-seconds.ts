/** GitHub's times are whole seconds, so we compare our instants with them in seconds. */
export const inSeconds = (instant: Date): number => Math.floor(instant.getTime() / 1000);
