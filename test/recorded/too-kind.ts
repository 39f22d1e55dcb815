/**
 * Recordings, by their file, that the sandbox does not answer as GitHub does, each with the reason. A line goes when its
 * recording is answered.
 */
export const tooKind: Record<string, string> = {};
