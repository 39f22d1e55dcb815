import type { MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { secureHeaders } from 'hono/secure-headers';

/**
 * The security headers of every page: it loads our style sheet and scripts only, cannot be framed, and sends forms to us
 * only. `style` attributes and inline scripts do not work either: use classes and SVG presentation attributes.
 * @param formTargets other origins that forms of the page may go to.
 */
export const pageHeaders = (formTargets: string[] = []): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      scriptSrc: ["'self'"],
      imgSrc: ["'self'"],
      // Pages that update themselves listen to our events.
      connectSrc: ["'self'"],
      formAction: ["'self'", ...formTargets],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    referrerPolicy: 'same-origin',
    xFrameOptions: 'DENY',
    // The proxy in front of Holdfast decides about HTTPS.
    strictTransportSecurity: false,
  });

/** Compresses pages and what they load, if the client accepts that. Events must not wait in a buffer. */
export const compressPages: MiddlewareHandler = compress({
  contentTypeFilter: /^(text\/(html|css|javascript)|image\/svg\+xml)\b/,
});
