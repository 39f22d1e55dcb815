import type { Context, Hono } from 'hono';
import type { CallerLimits, CallerQuestions } from '../github/limits/caller-limits.ts';
import type { Deps } from '../deps.ts';
import { isUnavailable } from '../errors.ts';
import { messagePage, type PageMessage, ownForms, pageBefore } from './message-page.ts';
import { signInPath } from '../page-paths.ts';
import {
  attemptSeconds,
  beginAttempt,
  cookieNameOf,
  readAttempt,
  writeAttempt,
  ownPath,
} from '../auth/sign-in/attempt.ts';
import {
  cookieNamed,
  dropCookie,
  makeRoomForSignIn,
  readCookie,
  writeCookie,
  useAttempt,
  readSession,
  beginSession,
  endSessions,
  sessionSeconds,
  type SignedIn,
} from '../auth/sign-in/sessions.ts';
import {
  authorizeUrl,
  identify,
  type NoToken,
  callbackPath,
  missingForSignIn,
  signInSettings,
} from '../auth/sign-in/github-identity.ts';

/** Signing in with GitHub, and signing out. What a person may see is not stored: each page asks GitHub. */
export function mountSignIn(pages: Hono, deps: Deps, limits: CallerLimits): void {
  pages.get('/auth/sign-in', (context) => signIn(deps, context));
  pages.get('/login', (context) => {
    const to = context.req.query('to');
    return context.redirect(to === undefined ? '/auth/sign-in' : signInPath(to), 302);
  });
  pages.get(callbackPath, (context) =>
    completeSignIn({ ...deps, questions: limits.questionsOf(deps, context, async () => null) }, context),
  );
  pages.get(signedOutPath, async (context) =>
    (await readSession(deps, context)) ? context.redirect('/', 302) : messagePage(context, signedOut),
  );
  pages.post('/auth/sign-out', ownForms(deps, foreignSignOut), (context) => signOut(deps, context));
}

async function signIn(deps: Deps, context: Context): Promise<Response> {
  const { config, clock } = deps;
  const settings = signInSettings(config);
  if (!settings) return messagePage(context, notSetUp(deps));
  const attempt = beginAttempt(ownPath(context.req.query('to') ?? pageBefore(context, deps)), clock.now());
  makeRoomForSignIn(context, config);
  const cookie = cookieNamed(config, cookieNameOf(attempt.state));
  await writeCookie(context, cookie, writeAttempt(attempt), attemptSeconds);
  return context.redirect(authorizeUrl(deps, settings, attempt), 302);
}

/** GitHub redirects the person here, with a code or an error. */
async function completeSignIn(
  deps: Deps & { questions: CallerQuestions },
  context: Context,
): Promise<Response> {
  const { config, clock, log } = deps;
  const settings = signInSettings(config);
  if (!settings) return messagePage(context, notSetUp(deps));
  const { code, state = '', error } = context.req.query();
  const cookie = cookieNamed(config, cookieNameOf(state));
  const attempt = readAttempt(await readCookie(context, cookie), state, clock.now());
  if (!attempt) return messagePage(context, notBegunHere);
  try {
    // The limit is checked before the attempt is used up, so that it can continue when the limit allows it.
    const person = await deps.questions.whoIs(null, isRefused, async (): Promise<SignInResult> => {
      dropCookie(context, cookie);
      if (error === 'access_denied') return 'denied';
      // From here on, a copy of the cookie is worthless.
      if (!(await useAttempt(deps, attempt))) return 'used';
      return code && !error
        ? identify(deps, settings, attempt, code)
        : { refusal: error ?? 'it sent neither a code nor an error' };
    });
    if (person === 'denied') return messagePage(context, again(attempt.to, denied));
    if (person === 'used') return messagePage(context, notBegunHere);
    if (isRefused(person)) {
      log.warn({ error: person.refusal.slice(0, 100) }, 'GitHub refused a sign-in');
      return messagePage(context, again(attempt.to, refused));
    }
    const session = await beginSession(deps, person);
    await writeCookie(context, cookieNamed(config, 'session'), session, sessionSeconds);
    return context.redirect(attempt.to, 303);
  } catch (failure) {
    if (isUnavailable(failure)) return messagePage(context, again(attempt.to, silent));
    throw failure;
  }
}

type SignInResult = SignedIn | NoToken | 'denied' | 'used';

const isRefused = (answer: SignInResult): answer is NoToken =>
  typeof answer === 'object' && 'refusal' in answer;

async function signOut(deps: Deps, context: Context): Promise<Response> {
  const viewer = await readSession(deps, context);
  if (viewer) await endSessions(deps, viewer);
  dropCookie(context, cookieNamed(deps.config, 'session'));
  return context.redirect(signedOutPath, 303);
}

/** Where signing out leads. */
const signedOutPath = '/auth/signed-out';

const notSetUp = ({ config }: Deps): PageMessage => ({
  status: 404,
  title: 'Sign-in is not set up',
  text: `Ask the people who run this service to set ${missingForSignIn(config)}.`,
});

const signInAt = (to: string) => ({
  href: signInPath(to),
  text: 'Sign in with GitHub',
});

const again = (to: string, message: PageMessage): PageMessage => ({ ...message, link: signInAt(to) });

const notBegunHere: PageMessage = {
  status: 400,
  title: 'This sign-in cannot be completed',
  text: 'It started in another browser, is already complete, or is more than ten minutes old. Allow cookies, then sign in again.',
  link: signInAt('/'),
};

const denied: PageMessage = {
  status: 403,
  title: 'You did not authorize Holdfast',
  text: 'Holdfast needs your authorization to check which repositories you can read. It only learns who you are. Sign in again to see pages of private repositories.',
};

const refused: PageMessage = {
  status: 400,
  title: 'GitHub did not complete the sign-in',
  text: 'The code works once and expires after ten minutes. Sign in again. If that fails too, the log of the service has the reason.',
};

const silent: PageMessage = {
  status: 503,
  title: 'GitHub does not answer',
  text: 'Holdfast could not find out who you are. Sign in again in a moment.',
};

const foreignSignOut = {
  title: 'You are still signed in',
  text: 'The request came from another site. To sign out, use the button on a page of Holdfast.',
};

const signedOut: PageMessage = {
  status: 200,
  title: 'You are signed out',
  text: 'You are signed out on all devices.',
  link: signInAt('/'),
};
