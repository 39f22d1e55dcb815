/** An archive cannot be made or taken. Nothing was changed; the message says what to do next. */
export class ArchiveRefused extends Error {}
