import type { Context, MiddlewareHandler } from 'hono';
import { originOf } from './admission.ts';
import { stopPage } from './setup-pages.ts';

/** What the routes behind know of who asks. */
export type SetupEnv = { Variables: { origin: string } };

/** Stops whoever comes under another name than ours, and every form that is not one of these pages. */
export const admitVisitor =
  (publicUrl: string): MiddlewareHandler<SetupEnv> =>
  async (context, next) => {
    const origin = originOf(context.req.header('host'), publicUrl);
    if (origin === null) {
      const text = `Open ${publicUrl}/setup, or on the machine that Holdfast runs on its own address. Where people reach Holdfast by another name, set PUBLIC_URL to that and start it again.`;
      return context.html(stopPage('Not under this address', text), 403);
    }
    if (context.req.method === 'POST' && !isOwnForm(context, origin)) {
      const text = 'Open the setup page itself. A proxy in front of Holdfast has to pass the Host header on.';
      return context.html(stopPage('Not from another site', text), 403);
    }
    context.set('origin', origin);
    return next();
  };

/** Browsers say where a form came from. Programs say nothing, and carry nobody's cookies. */
const isOwnForm = (context: Context, own: string): boolean => {
  const origin = context.req.header('origin');
  return origin === undefined || origin === own;
};
