import type { MiddlewareHandler } from 'hono';
import { ownFormsOnly } from '../own-forms.ts';
import { originOf } from './admission.ts';
import { stopPage } from './setup-pages.ts';

/** What the routes behind know of who asks. */
export type SetupEnv = { Variables: { origin: string } };

/** Stops whoever comes under another name than ours. */
export const admitVisitor =
  (publicUrl: string): MiddlewareHandler<SetupEnv> =>
  async (context, next) => {
    const origin = originOf(context.req.header('host'), publicUrl);
    if (origin === null) {
      const text = `Open ${publicUrl}/setup, or on the machine that Holdfast runs on its own address. Where people reach Holdfast by another name, set PUBLIC_URL to that and start it again.`;
      return context.html(stopPage('Not under this address', text), 403);
    }
    context.set('origin', origin);
    return next();
  };

/** Stops every form that is not one of these pages. */
export const ownForms = ownFormsOnly(
  (context) => context.get('origin'),
  (context) => {
    const text = 'Open the setup page itself. A proxy in front of Holdfast has to pass the Host header on.';
    return context.html(stopPage('Not from another site', text), 403);
  },
);
