/** GitHub's times are whole seconds, so that instants of ours are compared with them as such. */
export const inSeconds = (instant: Date): number => Math.floor(instant.getTime() / 1000);
