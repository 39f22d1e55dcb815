import type { html } from 'hono/html';

/** Markup with escaped texts. Only `html` makes it. */
export type Html = ReturnType<typeof html>;
