import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

/**
 * What browsers are told of every page: nothing but our own style sheet and script, no frame around it, no form to
 * elsewhere. `style` attributes and inline scripts are refused too: use classes and SVG's presentation attributes.
 * @param formTargets other origins that a form of the page may be sent to.
 */
export const pageHeaders = (formTargets: string[] = []): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      scriptSrc: ["'self'"],
      imgSrc: ["'self'"],
      // Pages that move by themselves listen to us.
      connectSrc: ["'self'"],
      formAction: ["'self'", ...formTargets],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    referrerPolicy: 'same-origin',
    xFrameOptions: 'DENY',
    // Whoever serves HTTP in front of us decides on that.
    strictTransportSecurity: false,
  });
