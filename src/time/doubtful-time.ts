/** A time that somebody wrote is past, may mean two moments, or is not understood. The message says what was understood. */
export class DoubtfulTime extends Error {}
