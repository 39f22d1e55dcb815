import { readFile } from 'node:fs/promises';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { etag } from 'hono/etag';
import { readSession } from '../../auth/sign-in/sessions.ts';
import { pageHeaders } from '../page-headers.ts';
import { readerZone } from '../text.ts';
import { documentPage, longestQuestion, noSuchDocument, resultsPage } from './help-page.ts';
import type { Library } from './library.ts';
import { docsFolder, overviewName } from './address.ts';

/**
 * The routes below `/help`: the documentation of the version that runs, for everybody. It is read when somebody first
 * asks for it, and kept.
 * @param deps to show who is signed in; absent where nobody can be. Without a session, no page reads the database.
 */
export function helpRoutes(deps?: Parameters<typeof readSession>[0]): Hono {
  let reading: Promise<Library> | undefined;
  const library = () =>
    (reading ??= readFirst().catch((error: unknown) => {
      reading = undefined;
      throw error;
    }));

  const help = new Hono();
  help.use(pageHeaders(), etag(), askedAgain);
  const readerOf = async (context: Context) => {
    // The documentation says what to do if the database does not answer.
    const viewer = deps && (await readSession(deps, context).catch(() => null));
    return { viewer, zone: readerZone(context) };
  };
  const show = async (context: Context, name: string) => {
    const found = await library();
    const document = found.documents.get(name);
    const reader = await readerOf(context);
    return document
      ? context.html(documentPage(found, document, reader))
      : context.html(noSuchDocument(found, reader), 404);
  };
  help.get('/', (context) => show(context, overviewName));
  help.get('/search', async (context) => {
    const question = (context.req.query('q') ?? '').slice(0, longestQuestion).trim();
    const found = await library();
    return context.html(resultsPage(found, question, found.search(question), await readerOf(context)));
  });
  help.get('/pictures/:picture', async (context) => {
    const picture = await readPicture(context.req.param('picture'));
    if (!picture) return context.html(noSuchDocument(await library(), await readerOf(context)), 404);
    context.header('Content-Type', 'image/png');
    return context.body(picture);
  });
  help.get('/:document', (context) => {
    const name = context.req.param('document');
    return name === overviewName ? context.redirect('/help', 301) : show(context, name);
  });
  return help;
}

/** What renders and searches is loaded with it: most processes are never asked. */
async function readFirst(): Promise<Library> {
  const { readLibrary } = await import('./library.ts');
  return readLibrary();
}

/** Null where there is no such picture. */
async function readPicture(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!/^[\w-]+\.png$/.test(name)) return null;
  try {
    return new Uint8Array(await readFile(new URL(`pictures/${name}`, docsFolder)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** After an upgrade the pages are new ones: browsers ask each time, and are told by an `ETag` when nothing changed. */
const askedAgain: MiddlewareHandler = async (context, next) => {
  await next();
  context.header('Cache-Control', 'private, no-cache');
};
