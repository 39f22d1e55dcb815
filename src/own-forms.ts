import type { Context, MiddlewareHandler } from 'hono';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';

/** The types that a form can be sent as. Hono looks at these alone, and lets every other one through. */
const formTypes = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/i;

/**
 * Lets a form through that was sent from a page of ours. Browsers say where one came from, and pages cannot forge it.
 * @param ownOrigin where our pages are; @param refuse answers everything else.
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
