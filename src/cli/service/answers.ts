import { notKnown, refused, type Stop } from '../stop.ts';

/** The JSON value of a text; null if it is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type Problem = { loc?: unknown; msg?: unknown };

/** What to do about a refusal if the service does not say it. */
const advice: Record<number, string> = {
  403: 'Use another credential: HOLDFAST_TOKEN, or `gh auth login`. An admin key of the owner can do everything but push scopes.',
  404: 'Check the name, and whether Holdfast is installed there.',
};

/** The answer of every version of the service for an unknown path. */
const noRoute = 'There is no such route.';

/** The refusal in an answer, in the words of the service. @param body the JSON of the answer, or null. */
export function refusalIn(url: string, status: number, body: unknown): Stop {
  const detail = (body as { detail?: unknown } | null)?.detail;
  const says = typeof detail === 'string' ? detail : Array.isArray(detail) ? problems(detail) : null;
  if (says === null) {
    const remedy =
      status >= 500
        ? 'It may be starting or overloaded: try again in a minute, and see holdfast doctor.'
        : 'Check that the address is that of a Holdfast.';
    return notKnown(`${url} answers ${status} and does not say why. ${remedy}`, status);
  }
  if (status === 404 && says.startsWith(noRoute))
    return refused(
      `The Holdfast at ${url} is older than this command, and cannot do this. Update it.`,
      status,
    );
  const message = [says, advice[status]].filter(Boolean).join('\n');
  // The service could not do it now, and may do it later.
  return status >= 500 || status === 429 ? notKnown(message, status) : refused(message, status);
}

/** The bad fields, one on each line. */
const problems = (list: Problem[]): string =>
  list
    .map(({ loc, msg }) => {
      const place = Array.isArray(loc) ? loc.slice(1).join('.') : '';
      return place ? `${place}: ${String(msg)}` : String(msg);
    })
    .join('\n');

/** What to do if `fetch` got no answer. @param error that it threw. */
export function noAnswer(url: string, error: unknown): Stop {
  const { message, cause } = error as Error;
  const why = cause instanceof Error && cause.message ? cause.message : message;
  const remedy = isUntrusted(cause)
    ? 'Set NODE_EXTRA_CA_CERTS to a file with the certificate of its signer.'
    : 'Start it, or name it with --url or HOLDFAST_URL.';
  return notKnown(`Holdfast does not answer at ${url} (${why}). ${remedy}`);
}

/** Whether this machine does not trust the signer of the certificate. */
const isUntrusted = (cause: unknown): boolean =>
  /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)/.test(String((cause as { code?: unknown } | undefined)?.code));
