import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { type Admission, admissionOf, type Visit } from './admission.ts';
import { stopPage } from './setup-pages.ts';

/** What the routes behind know of who asks. */
export type SetupEnv = { Variables: { admission: Exclude<Admission, { kind: 'elsewhere' }> } };

/** Stops whoever comes under another name than ours, and every form that is not one of these pages. */
export const admitVisitor =
  (publicUrl: string): MiddlewareHandler<SetupEnv> =>
  async (context, next) => {
    const admission = admissionOf(visitOf(context), publicUrl);
    if (admission.kind === 'elsewhere') {
      const text = `Open ${publicUrl}/setup, or on the machine that Holdfast runs on its own address. Where people reach Holdfast by another name, set PUBLIC_URL to that and start it again.`;
      return context.html(stopPage('Not under this address', text), 403);
    }
    if (context.req.method === 'POST' && !isOwnForm(context, admission.origin))
      return context.html(stopPage('Not from another site', 'Open the setup page itself.'), 403);
    context.set('admission', admission);
    return next();
  };

/** Headers with which proxies say for whom they ask. */
const ofProxies = /^(?:forwarded|via|x-real-ip|x-forwarded-.+)$/;

function visitOf(context: Context): Visit {
  const { incoming } = context.env as { incoming: { httpVersion: string } };
  const headers = Object.keys(context.req.header());
  return {
    address: getConnInfo(context).remote.address,
    host: context.req.header('host'),
    // A bare nginx names nobody and sends its own loopback name as Host, but until 1.29 it spoke HTTP/1.0.
    isForwarded: incoming.httpVersion === '1.0' || headers.some((name) => ofProxies.test(name)),
  };
}

/** Browsers say where a form came from. Programs say nothing, and carry nobody's cookies. */
const isOwnForm = (context: Context, own: string): boolean => {
  const origin = context.req.header('origin');
  return origin === undefined || origin === own;
};
