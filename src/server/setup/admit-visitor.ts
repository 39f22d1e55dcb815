import type { MiddlewareHandler } from 'hono';
import { ownFormsOnly } from '../../auth/own-forms.ts';
import { originOf } from './admission.ts';
import { stopPage } from './setup-pages.ts';

/** What the setup routes know about a visitor. */
export type SetupEnv = { Variables: { origin: string } };

/** Stops visitors who use a host name that is not ours. */
export const admitVisitor =
  (publicUrl: string): MiddlewareHandler<SetupEnv> =>
  async (context, next) => {
    const origin = originOf(context.req.header('host'), publicUrl);
    if (origin === null) {
      const text = `Open ${publicUrl}/setup, or open the setup page at localhost on the machine that runs Holdfast. If people reach Holdfast by another name, set PUBLIC_URL to that name and restart Holdfast.`;
      return context.html(stopPage('Wrong address', text), 403);
    }
    context.set('origin', origin);
    return next();
  };

/** Stops forms that do not come from these pages. */
export const ownForms = ownFormsOnly(
  (context) => context.get('origin'),
  (context) => {
    const text = 'Open the setup page directly. A proxy in front of Holdfast must forward the Host header.';
    return context.html(stopPage('Request from another site', text), 403);
  },
);
