/** A written time has passed, can mean two moments, or is not understood. The message says what was understood. */
export class DoubtfulTime extends Error {}
