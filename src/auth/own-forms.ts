import type { Context, MiddlewareHandler } from 'hono';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';

/** The content types of forms. Hono checks only these, and accepts all others. */
const formTypes = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/i;

/**
 * Accepts a form that one of our pages sent. Browsers say where a form comes from, and pages cannot forge it.
 * @param ownOrigin the origin of our pages; @param refuse answers everything else.
 */
export function ownFormsOnly(
  ownOrigin: (context: Context) => string,
  refuse: (context: Context) => Response | Promise<Response>,
): MiddlewareHandler {
  const check = csrf({ origin: (origin, context) => origin === ownOrigin(context) });
  return async (context, next) => {
    if (!formTypes.test(context.req.header('Content-Type') ?? 'text/plain')) return refuse(context);
    try {
      await check(context, async () => {});
    } catch (error) {
      if (error instanceof HTTPException) return refuse(context);
      throw error;
    }
    return next();
  };
}
